//! Response times of callbacks, settled together with their arrivals.

use crate::arrivals::Stream;
use crate::callbacks::{Callback, System, Trigger};
use response_time_analysis::arrival::Sporadic;
use response_time_analysis::demand::{Aggregate, RBF};
use response_time_analysis::ros2::{rta_polling_point_callback, rta_timer};
use response_time_analysis::supply::Dedicated;
use response_time_analysis::time::{Duration, Service};
use response_time_analysis::wcet::Scalar;

/// A callback that responds later is not bounded.
const LIMIT_NS: u64 = 60_000_000_000;
/// Rounds in which arrivals and response times settle; each can only grow.
const ROUNDS: usize = 1000;

type Demand = Aggregate<RBF<Sporadic, Scalar>>;

/// What streams ask of a CPU, each arrival so much.
fn demand<'a>(of: impl Iterator<Item = (&'a Callback, &'a Vec<Stream>)>) -> Demand {
    let stream = |longest_ns: u64, stream: &Stream| {
        let arrivals = Sporadic::new(Duration::from(stream.period_ns), Duration::from(stream.jitter_ns));
        RBF::new(arrivals, Scalar::new(Service::from(longest_ns)))
    };
    // What takes no time is at the least a nanosecond: the analysis divides demand into jobs.
    let all = of.flat_map(|(callback, streams)| {
        streams.iter().map(|one| stream(callback.longest_ns.max(1), one)).collect::<Vec<_>>()
    });
    Aggregate::new(all.collect())
}

impl System {
    /// Finds the response times of all callbacks: those with which arrivals and responses agree.
    pub fn settle(&mut self) -> Result<(), String> {
        for _ in 0..ROUNDS {
            let arrivals = self.arrivals()?;
            let responses: Vec<u64> =
                (0..self.callbacks.len()).map(|at| self.response(at, &arrivals)).collect::<Result<_, _>>()?;
            let is_settled = self.callbacks.iter().zip(&responses).all(|(of, response)| of.response_ns == *response);
            self.callbacks.iter_mut().zip(responses).for_each(|(of, response)| of.response_ns = response);
            if is_settled {
                return Ok(());
            }
        }
        Err(format!("response times do not settle within {ROUNDS} rounds"))
    }

    /// The response time of a callback, ns.
    fn response(&self, at: usize, arrivals: &[Vec<Stream>]) -> Result<u64, String> {
        let own = &self.callbacks[at];
        if arrivals[at].is_empty() {
            return Ok(0); // nobody publishes what it takes
        }
        let beside = || {
            let others = self.callbacks.iter().zip(arrivals).enumerate().filter(|(other, _)| *other != at);
            others.filter(|(_, (of, _))| of.executor == own.executor)
        };
        let own_demand = demand(std::iter::once((own, &arrivals[at])));
        let limit = Duration::from(LIMIT_NS);
        let found = match own.trigger {
            Trigger::Timer(_) => {
                let is_before = |other: &usize, of: &Callback| matches!(of.trigger, Trigger::Timer(_)) && *other < at;
                let before = beside().filter(|(other, (of, _))| is_before(other, of));
                let higher = demand(before.map(|(_, pair)| pair));
                // A timer that becomes due during a round waits for its end: for one of each other callback.
                let round = beside().filter(|(other, (of, _))| !is_before(other, of));
                let round_ns: u64 = round.map(|(_, (of, _))| of.longest_ns).sum();
                rta_timer(&Dedicated::new(), &own_demand, &higher, Service::from(round_ns), limit)
            }
            Trigger::Messages(_) => {
                let others = demand(beside().map(|(_, pair)| pair));
                rta_polling_point_callback(&Dedicated::new(), &own_demand, &others, limit)
            }
        };
        match found {
            Ok(response) => Ok(u64::from(response)),
            Err(_) => {
                Err(format!("node {} may respond later than any bound: its executor has too much to do", own.node))
            }
        }
    }
}
