"""Facts of a conversation: found in what was said, kept in a ledger, shown beside the window, found again for a question."""
