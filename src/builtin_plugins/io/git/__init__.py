"""Calls of git in which a hostile repository cannot run code."""
