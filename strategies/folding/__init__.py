"""When old messages are folded into a summary, what it costs, and how it is done."""
