"""The command `contextport`: fit a conversation into a budget, look into a log, replay what a model saw."""
