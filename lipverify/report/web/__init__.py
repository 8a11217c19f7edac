"""The report as one web page: the model of the PDF, set in HTML."""
