//! Layouts are tested in `decode`.
