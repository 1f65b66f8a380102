"""Token counters: what turns text into a number of tokens, one module per technology."""
