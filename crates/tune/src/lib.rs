//! Search over what may be changed, and plans that a user can apply.
