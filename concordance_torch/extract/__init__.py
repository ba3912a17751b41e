"""Reads tables and registrations of operators."""
