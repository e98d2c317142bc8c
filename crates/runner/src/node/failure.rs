//! Why a node ends before its time.

/// The cause.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The middleware failed.
    #[error(transparent)]
    Middleware(#[from] tacho_middleware::Error),
    /// The node's task failed.
    #[error(transparent)]
    Task(#[from] tacho_tasks::Error),
    /// One of the threads of its executor failed.
    #[error("{0}")]
    Thread(String),
}
