"""Sources of window sizes: a table of the host's own, what the model's host says, what its errors said, registries, the environment."""
