"""Our own tests. A package, so that tests may share modules such as `tests.cases`."""
