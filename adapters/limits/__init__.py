"""Sources of window sizes: the environment, and a table of the host's own."""
