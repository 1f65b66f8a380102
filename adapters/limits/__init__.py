"""Sources of window sizes: a table of the host's own, the model's host, its errors, registries, and the environment."""
