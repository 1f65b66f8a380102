"""Message codecs: one module per wire form, and beside them what several of them share."""
