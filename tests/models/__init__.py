"""Tests of the chat models: the suite and the special cases, over real sockets with the real SDKs, and a real local model."""
