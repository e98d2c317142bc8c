//! Finding and loading middleware plugins.
