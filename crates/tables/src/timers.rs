//! When timers of rcl are due: a period apart, from their making on (`rcl_timer_call`).

/// From the reading of the clock by which a timer is due to the event of its making, ns, at most.
const LATEST_EVENT_NS: i64 = 200_000;
/// A run on time begins in this part of the period after the timer was due.
pub const ON_TIME: i64 = 20;

/// From the last due time of a timer that was made at an instant to one of its starts, ns. Less than 0 if the event of
/// the making came after the reading of the clock: no timer runs early.
pub fn since_due_ns(start_ns: i64, armed_ns: i64, period_ns: i64) -> i64 {
    let before_ns = (period_ns / ON_TIME).min(LATEST_EVENT_NS);
    (start_ns - armed_ns + before_ns).rem_euclid(period_ns) - before_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_shortly_before_the_grid_is_of_the_due_time_there() {
        let since_due = |start_ns| since_due_ns(start_ns, 1_000_000, 50_000_000);
        assert_eq!([201_600_000, 201_000_000, 200_900_000].map(since_due), [600_000, 0, -100_000]);
        assert_eq!(since_due(200_700_000), 49_700_000, "late by nearly a period");
        // A twentieth of a short period.
        assert_eq!([995, 951, 949].map(|start_ns| since_due_ns(start_ns, 0, 1_000)), [-5, -49, 949]);
    }
}
