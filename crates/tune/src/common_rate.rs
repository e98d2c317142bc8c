//! Study E's search for the spin rate that all nodes of a chain share.
//!
//! For a chain of n nodes on m cores, all spinning at rate SR, in the study's numbering of its equations:
//!
//! 1. R(SR) = sum over the chain of r_i
//! 2. r_i = e_i + AD_i + PD_i
//! 3. AD_1 = 0; AD_i = 1000 / SR ms for the others: at worst a message just misses a wake.
//! 4. PD_i is the least fixed point of PD = e_i + (1/m) sum over all other nodes j of ceil(PD / p_j) c_j. For a node of
//!    the chain, c_j is the time of its *callback check* (wake, look, sleep) and p_j = 1000 / SR ms. For every other
//!    node, c_j is its computation time and p_j its own period.
//!
//! Algorithm 1 takes the SR of 10, 20 ... 1000 Hz with the least R.
//!
//! # How the text is read
//!
//! **e_i is counted once.** PD_i of equation 4 begins with e_i. Taken literally, the sum of equation 1 therefore holds
//! the computation twice. This does not depend on SR and moves no optimum. [`ObjectivePoint::response_ms`] holds it
//! once, so that the three parts add up to a time that can be compared with a measured one: computation is the sum of
//! e_i, preemption the sum of PD_i - e_i.
//!
//! **Divergence.** If the others need as much as the cores give, (1/m) sum c_j / p_j >= 1, no fixed point exists and R
//! is infinite: this rate cannot be chosen. Such rates are listed apart from the curve.
//!
//! **The published optima** are 300 Hz, 220 Hz if one node's check takes 0.5 ms, and 180 Hz if it takes 1.0 ms. The
//! study states neither its nodes' times nor m. Systems with these three optima exist: `workloads/study-e.yaml` is one
//! of many, on 2 cores, with checks of 0.05 ms and other nodes that use 36 % of the cores. The study's mean check of
//! 0.000273 ms gave all three in none of 190,000 random systems, because a faster spin then costs next to nothing and
//! 1000 Hz is best.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A node of the chain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct ChainNode {
    /// Its name.
    pub name: String,
    /// e_i: execution time of its callback, ms.
    pub execution_ms: f64,
    /// c_i: time of one callback check, ms.
    pub check_ms: f64,
}

/// A node outside the chain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct OtherNode {
    /// Its name.
    pub name: String,
    /// p_j: time from one computation to the next, ms.
    pub period_ms: f64,
    /// c_j: time of one computation, ms.
    pub computation_ms: f64,
}

/// The input of the search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct CommonRate {
    /// Nodes of the chain, source first.
    pub chain: Vec<ChainNode>,
    /// Nodes outside the chain that compute.
    pub others: Vec<OtherNode>,
    /// m: number of cores.
    pub cores: u32,
}

/// R and its parts at one rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct ObjectivePoint {
    /// SR: the spin rate.
    pub hz: f64,
    /// computation + alignment + preemption.
    pub response_ms: f64,
    /// Sum of e_i.
    pub computation_ms: f64,
    /// Sum of AD_i: the worst case, twice the mean.
    pub alignment_ms: f64,
    /// Sum of PD_i - e_i.
    pub preemption_ms: f64,
}

/// `RUN/objective.json`: the curve, its minimum and the input of the search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct ObjectiveCurve {
    /// The system that was searched.
    pub input: CommonRate,
    /// Rates at which R is finite, ascending.
    pub points: Vec<ObjectivePoint>,
    /// Rates at which R is infinite.
    pub diverging_hz: Vec<f64>,
    /// The rate with the least R; the lowest such rate if there are several.
    pub best_hz: f64,
}

/// Why there is no best rate.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SearchError {
    /// The chain is too short to have alignment.
    #[error("a chain of {0} nodes has no alignment to tune: expected at least 2")]
    ShortChain(usize),
    /// The number of cores is 0.
    #[error("0 cores: expected at least 1")]
    NoCores,
    /// A time is negative or NaN, or a period is zero.
    #[error("node `{node}`: {what} is {found} ms, expected {expected}")]
    BadTime {
        /// The node's name.
        node: String,
        /// Which of its times.
        what: &'static str,
        /// The value found.
        found: f64,
        /// The expected value, in words.
        expected: &'static str,
    },
    /// R is infinite at every rate.
    #[error("callback checks and the other nodes leave no time for the chain on {cores} cores even at 10 Hz")]
    Overloaded {
        /// m: number of cores.
        cores: u32,
    },
}

/// Absorbs the rounding of quotients such as 10 / (1000 / 300). It is far below a check and far above the error of a
/// few divisions.
const ROUNDING: f64 = 1e-9;
/// Most steps toward a fixed point. Each step reduces the distance by the share of the cores that others use, so only
/// shares above 0.9999 need more steps. The response is then useless anyway, and counts as infinite.
const MAX_STEPS: usize = 200_000;

impl CommonRate {
    /// The rates that study E tries.
    pub fn rates() -> impl Iterator<Item = f64> {
        (1..=100).map(|n| f64::from(n * 10))
    }

    /// R and its parts at one rate (equations 1 to 4); `None` if R is infinite.
    pub fn at(&self, hz: f64) -> Option<ObjectivePoint> {
        let period_ms = 1000.0 / hz;
        let computation_ms = self.chain.iter().map(|node| node.execution_ms).sum();
        let alignment_ms = self.chain.iter().skip(1).map(|_| period_ms).sum();
        let mut preemption_ms = 0.0;
        for (index, node) in self.chain.iter().enumerate() {
            preemption_ms += self.preemption(index, period_ms)? - node.execution_ms;
        }
        let response_ms = computation_ms + alignment_ms + preemption_ms;
        Some(ObjectivePoint { hz, response_ms, computation_ms, alignment_ms, preemption_ms })
    }

    /// Evaluates all rates and picks the best (algorithm 1).
    pub fn curve(&self) -> Result<ObjectiveCurve, SearchError> {
        self.validate()?;
        let mut points: Vec<ObjectivePoint> = Vec::new();
        let mut diverging_hz = Vec::new();
        for hz in Self::rates() {
            match self.at(hz) {
                Some(point) => points.push(point),
                None => diverging_hz.push(hz),
            }
        }
        let best = points.iter().min_by(|a, b| a.response_ms.total_cmp(&b.response_ms));
        let best_hz = best.ok_or(SearchError::Overloaded { cores: self.cores })?.hz;
        Ok(ObjectiveCurve { input: self.clone(), points, diverging_hz, best_hz })
    }

    /// PD_i of equation 4, ms.
    fn preemption(&self, index: usize, period_ms: f64) -> Option<f64> {
        let cores = f64::from(self.cores);
        let others: Vec<(f64, f64)> = self
            .chain
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != index)
            .map(|(_, node)| (period_ms, node.check_ms))
            .chain(self.others.iter().map(|node| (node.period_ms, node.computation_ms)))
            .filter(|(_, cost_ms)| *cost_ms > 0.0)
            .collect();
        let used: f64 = others.iter().map(|(period_ms, cost_ms)| cost_ms / period_ms).sum::<f64>() / cores;
        if used >= 1.0 - ROUNDING {
            return None;
        }
        let execution_ms = self.chain[index].execution_ms;
        let mut delay_ms = execution_ms;
        for _ in 0..MAX_STEPS {
            let taken_ms: f64 =
                others.iter().map(|(p, cost_ms)| (delay_ms / p - ROUNDING).ceil().max(0.0) * cost_ms).sum();
            let next_ms = execution_ms + taken_ms / cores;
            // The delay only grows, and it stops exactly, because `ceil` takes finite steps.
            if next_ms <= delay_ms {
                return Some(next_ms);
            }
            delay_ms = next_ms;
        }
        None
    }

    fn validate(&self) -> Result<(), SearchError> {
        if self.chain.len() < 2 {
            return Err(SearchError::ShortChain(self.chain.len()));
        }
        if self.cores == 0 {
            return Err(SearchError::NoCores);
        }
        let times = |name: &String, times: &[(&'static str, f64, bool)]| {
            for &(what, found, fits) in times {
                if !fits || !found.is_finite() {
                    let expected = if what == "period" { "more than 0" } else { "0 or more" };
                    return Err(SearchError::BadTime { node: name.clone(), what, found, expected });
                }
            }
            Ok(())
        };
        for node in &self.chain {
            let (e, c) = (node.execution_ms, node.check_ms);
            times(&node.name, &[("execution time", e, e >= 0.0), ("callback check", c, c >= 0.0)])?;
        }
        for node in &self.others {
            let (p, c) = (node.period_ms, node.computation_ms);
            times(&node.name, &[("period", p, p > 0.0), ("computation time", c, c >= 0.0)])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computation of `workloads/autoware-localisation.yaml`, 24.66 ms.
    const AUTOWARE: [f64; 9] = [0.86, 2.9, 2.4, 12.1, 1.2, 2.5, 1.3, 0.6, 0.8];

    fn chain(execution_ms: &[f64], check_ms: f64, cores: u32) -> CommonRate {
        let node = |(index, e): (usize, &f64)| ChainNode { name: format!("n{index}"), execution_ms: *e, check_ms };
        CommonRate { chain: execution_ms.iter().enumerate().map(node).collect(), others: Vec::new(), cores }
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn without_checks_only_alignment_depends_on_the_rate() {
        let search = chain(&AUTOWARE, 0.0, 2);
        for hz in CommonRate::rates() {
            let point = search.at(hz).expect("finite");
            assert!(close(point.alignment_ms, 8.0 * 1000.0 / hz));
            assert!(close(point.computation_ms, 24.66) && close(point.preemption_ms, 0.0));
            assert!(close(point.response_ms, 24.66 + 8000.0 / hz));
        }
        assert_eq!(search.curve().expect("a best rate").best_hz, 1000.0);
    }

    /// Two nodes of 10 and 5 ms at 100 Hz, checks of 1 ms, one core. PD_1 = 10 + ceil(PD_1 / 10) x 1: 10 -> 11 -> 12
    /// -> 12. PD_2 = 5 + ceil(PD_2 / 10) x 1: 5 -> 6 -> 6.
    #[test]
    fn the_fixed_point_is_the_one_computed_by_hand() {
        let point = chain(&[10.0, 5.0], 1.0, 1).at(100.0).expect("finite");
        assert!(close(point.alignment_ms, 10.0));
        assert!(close(point.preemption_ms, (12.0 - 10.0) + (6.0 - 5.0)), "{point:?}");
        assert!(close(point.response_ms, 15.0 + 10.0 + 3.0));
    }

    /// The same on two cores, where each check counts half: PD_1 = 10 -> 10.5 -> 11 -> 11; PD_2 = 5 -> 5.5 -> 5.5.
    #[test]
    fn cores_share_the_interference() {
        let point = chain(&[10.0, 5.0], 1.0, 2).at(100.0).expect("finite");
        assert!(close(point.preemption_ms, 1.0 + 0.5), "{point:?}");
    }

    /// Another node that computes 0.5 ms every 4 ms: PD_1 = 10 + ceil(PD_1/10) x 1 + ceil(PD_1/4) x 0.5:
    /// 10 -> 12.5 -> 14 -> 14; PD_2 = 5 -> 7 -> 7.
    #[test]
    fn nodes_outside_of_the_chain_take_their_computation_each_period_of_their_own() {
        let mut search = chain(&[10.0, 5.0], 1.0, 1);
        search.others.push(OtherNode { name: "other".into(), period_ms: 4.0, computation_ms: 0.5 });
        let point = search.at(100.0).expect("finite");
        assert!(close(point.preemption_ms, 4.0 + 2.0), "{point:?}");
        search.others[0].computation_ms = 4.0;
        assert_eq!((search.at(10.0), search.curve()), (None, Err(SearchError::Overloaded { cores: 1 })));
    }

    /// At 300 Hz the period is 3.33.. ms, and 10 ms contain exactly three of them, not four.
    #[test]
    fn a_delay_of_whole_periods_holds_that_many_checks() {
        let point = chain(&[10.0, 0.0], 0.0, 1).at(300.0).expect("finite");
        assert!(close(point.preemption_ms, 0.0));
        let mut search = chain(&[9.0, 0.0], 0.0, 1);
        search.chain[1].check_ms = 1.0 / 3.0;
        // 9 -> 9 + 3/3 = 10 -> 10.
        assert!(close(search.at(300.0).expect("finite").preemption_ms, 1.0));
    }

    #[test]
    fn checks_that_use_all_cores_make_the_response_infinite() {
        // Two nodes, so one other check of 2 ms each. At 500 Hz it uses 2 ms of every 2 ms.
        let search = chain(&[1.0, 1.0], 2.0, 1);
        assert_eq!(search.at(500.0), None);
        assert!(search.at(490.0).is_some());
        let curve = search.curve().expect("a best rate");
        assert_eq!(curve.diverging_hz.len(), 51);
        assert_eq!(curve.points.len() + curve.diverging_hz.len(), 100);
        assert_eq!(chain(&[1.0, 1.0], 100.0, 1).curve(), Err(SearchError::Overloaded { cores: 1 }));
        // As near to divergence as a number can be: the search still answers, and soon.
        let near = chain(&[1.0, 1.0], 2.0 * (1.0 - 1e-7), 1);
        assert!(near.at(500.0).is_none_or(|point| point.response_ms > 1e5));
    }

    /// See the module documentation: the published check of 0.273 us gives 1000 Hz.
    #[test]
    fn the_published_check_does_not_give_the_published_rate() {
        for nodes in [7, 8, 9] {
            for cores in [1, 2, 4, 8] {
                let search = chain(&vec![24.66 / nodes as f64; nodes], 0.000273, cores);
                assert_eq!(search.curve().expect("a best rate").best_hz, 1000.0);
            }
        }
    }

    /// At 300 Hz the study measured 21.23 ms of alignment over the chain; AD is its worst case, 8 x 3.33 ms.
    #[test]
    fn the_worst_case_alignment_bounds_the_measured_one() {
        let alignment_ms = chain(&AUTOWARE, 0.0, 1).at(300.0).expect("finite").alignment_ms;
        assert!(close(alignment_ms, 80.0 / 3.0) && alignment_ms > 21.23 && alignment_ms / 2.0 < 21.23);
    }

    #[test]
    fn what_cannot_be_searched_says_why() {
        assert_eq!(chain(&[1.0], 0.0, 1).curve(), Err(SearchError::ShortChain(1)));
        assert_eq!(chain(&[1.0, 1.0], 0.0, 0).curve(), Err(SearchError::NoCores));
        assert!(matches!(chain(&[1.0, f64::NAN], 0.0, 1).curve(), Err(SearchError::BadTime { .. })));
        assert!(matches!(chain(&[1.0, 1.0], -1.0, 1).curve(), Err(SearchError::BadTime { .. })));
    }

    #[test]
    fn the_curve_survives_its_file() {
        let curve = chain(&AUTOWARE, 0.19, 1).curve().expect("a best rate");
        let text = serde_json::to_string(&curve).expect("JSON");
        let read: ObjectiveCurve = serde_json::from_str(&text).expect("the same");
        assert_eq!((read.best_hz, &read.diverging_hz, &read.input), (curve.best_hz, &curve.diverging_hz, &curve.input));
        assert_eq!(read.points.len(), curve.points.len());
        assert!(read.points.iter().zip(&curve.points).all(|(a, b)| close(a.response_ms, b.response_ms)));
        let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(json["points"][0]["hz"], 10.0);
    }
}
