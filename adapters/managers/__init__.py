"""Context managers: the engine over any store, counter and strategy, and its blocking face."""
