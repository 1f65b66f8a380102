"""Strategies that decide what of a conversation the model sees."""
