"""Linear transformers on noisy linear regression: layers, the implicit model, ridge baselines, training.

Source: Vladymyrov, von Oswald, Sandler, Ge, "Linear Transformers are Versatile In-Context Learners", NeurIPS 2024.
"""
