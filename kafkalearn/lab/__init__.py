"""JupyterLab's side of the course."""
