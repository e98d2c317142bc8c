"""How a node refuses a request."""


class Refused(Exception):
    """A request that cannot be fulfilled, in words for the user."""


class TaskFailed(Exception):
    """The task of a node failed; the text says what it found and expected."""
