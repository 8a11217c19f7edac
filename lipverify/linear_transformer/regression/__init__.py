"""The task: contexts of noisy linear regression, and the estimators that a transformer is compared with."""
