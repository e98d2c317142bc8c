"""How a node refuses a request."""


class Refused(Exception):
    """A request that cannot be fulfilled, in words for the user."""
