//! What is known of the clock of a microcontroller from its messages, before it is related.

/// What is known of a board's clock, ns.
#[derive(Debug, Clone, Default)]
pub(crate) struct BoardClock {
    /// The reader's time of its events less its own.
    pub rough_ns: i64,
    pub bounds: Bounds,
}

/// (board's time, offset at most or at least), ns.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bounds {
    pub above: Vec<(i64, i64)>,
    pub below: Vec<(i64, i64)>,
}
