//! What the verdicts promise, counted: false alarms on equal sides, and how often a planted change is found.
//!
//! False alarms are counted on thirty real runs of a busy machine (`pool.csv`, a history that `tacho compare --history`
//! wrote: a chain of three nodes on Cyclone DDS at 200 Hz, 4 s each). A side is ten of them, drawn with replacement by
//! a seeded generator, so both sides have one distribution. Their p99 varies by 39 % from run to run, in which nobody
//! finds 5 %. Planted changes are therefore sought in a model of a quiet machine: 6000 messages a run, lognormal (sigma
//! 0.3), and a factor of each run (sigma 0.8 %), beside 18 figures that do not change.

use tacho_compare::{compare, Better, Comparison, Figure, Kind, Options, Side, Subject, Unit, Verdict};

const OPTIONS: Options = Options { matters: 0.02, alpha: 0.05 };
const RUNS: usize = 10;

/// SplitMix64.
struct Seeded(u64);

impl Seeded {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Standard normal (Box and Muller).
    fn normal(&mut self) -> f64 {
        let mut part = || ((self.next() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        let (radius, angle) = ((-2.0 * part().ln()).sqrt(), std::f64::consts::TAU * part());
        radius * angle.cos()
    }

    fn side(&mut self, pool: &Side) -> Side {
        (0..RUNS).map(|_| pool[(self.next() % pool.len() as u64) as usize].clone()).collect()
    }
}

/// The runs of the pool; columns are `KIND NAME FIGURE STATISTIC UNIT`.
fn pool() -> Side {
    let mut reader = csv::Reader::from_path("tests/pool.csv").expect("the pool");
    let names: Vec<String> = reader.headers().expect("header").iter().skip(3).map(String::from).collect();
    let figure = |name: &String, cell: &str| {
        let subject = Subject { point: String::new(), kind: Kind::Run, name: String::new() };
        // The bootstrap of tails calls no figure better or worse, and takes minutes for so many pairs.
        let (is_tail, value) = (false, cell.parse().expect("a number"));
        let is_neutral = ["computation", "off CPU", "transport", "alignment", "queueing", "kept", "rate", "wakeups"]
            .iter()
            .any(|word| name.contains(word));
        let better = if is_neutral { Better::Neutral } else { Better::Lower };
        Figure { subject, name: name.clone(), unit: Unit::Named, better, is_tail, is_compared: true, value }
    };
    let rows = reader.records().map(|row| {
        let row = row.expect("a row");
        names.iter().zip(row.iter().skip(3)).map(|(name, cell)| figure(name, cell)).collect()
    });
    rows.collect()
}

fn compared(before: &Side, after: &Side, only: &str) -> Comparison {
    compare(before, after, OPTIONS, &|_, name| name.contains(only))
}

fn blamed(comparison: &Comparison) -> usize {
    comparison.count(Verdict::Worse) + comparison.count(Verdict::Better)
}

#[test]
fn of_a_thousand_equal_pairs_at_most_one_in_twenty_has_a_false_alarm() {
    let (pool, mut seeded) = (pool(), Seeded(1));
    assert_eq!(pool.len(), 30);
    let mut alarms = 0;
    for _ in 0..1000 {
        let (before, after) = (seeded.side(&pool), seeded.side(&pool));
        let found = compared(&before, &after, "");
        assert!(found.judged >= 10, "{} figures", found.judged);
        alarms += usize::from(blamed(&found) > 0);
    }
    println!("{alarms} of 1000 equal pairs have a false alarm");
    assert!(alarms <= 50, "{alarms} of 1000");
}

#[test]
fn one_figure_alone_also_keeps_the_promise() {
    let (pool, mut seeded) = (pool(), Seeded(2));
    let mut alarms = 0;
    for _ in 0..1000 {
        let (before, after) = (seeded.side(&pool), seeded.side(&pool));
        alarms += usize::from(blamed(&compared(&before, &after, "chain localisation end-to-end p99")) > 0);
    }
    println!("{alarms} of 1000 equal pairs have a false alarm in one figure");
    // Binomial: 1000 pairs at 5 % have 50, and more than 70 with a chance of 0.002.
    assert!(alarms <= 70, "{alarms} of 1000");
}

/// A run of the model: mean and p99 of its messages, and figures beside them.
fn modelled(seeded: &mut Seeded) -> Vec<Figure> {
    let of_run = (0.008 * seeded.normal()).exp();
    let mut times: Vec<f64> = (0..6000).map(|_| of_run * (0.3 * seeded.normal()).exp()).collect();
    times.sort_unstable_by(f64::total_cmp);
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    let figure = |name: String, value| {
        let subject = Subject { point: String::new(), kind: Kind::Run, name: String::new() };
        Figure { subject, name, unit: Unit::Us, better: Better::Lower, is_tail: false, is_compared: true, value }
    };
    let mut run = vec![figure("mean".into(), mean), figure("p99".into(), times[5940])];
    run.extend((0..18).map(|n| figure(format!("other {n}"), (0.02 * seeded.normal()).exp())));
    run
}

#[test]
fn a_planted_change_is_found_in_nine_of_ten_pairs() {
    for (figure, more) in [("mean", 0.03), ("p99", 0.05)] {
        let mut seeded = Seeded(3);
        let (mut found, mut false_alarms) = (0, 0);
        for _ in 0..200 {
            let before: Side = (0..RUNS).map(|_| modelled(&mut seeded)).collect();
            let mut after: Side = (0..RUNS).map(|_| modelled(&mut seeded)).collect();
            after.iter_mut().flatten().filter(|of| of.name == figure).for_each(|of| of.value *= 1.0 + more);
            let compared = compared(&before, &after, "");
            assert_eq!(compared.judged, 20);
            let is_planted = |name: &str| name == figure;
            let blamed = compared.figures.iter().filter(|of| matches!(of.verdict, Verdict::Worse | Verdict::Better));
            let (right, wrong): (Vec<_>, Vec<_>) = blamed.partition(|of| is_planted(&of.figure));
            found += usize::from(right.iter().any(|of| of.verdict == Verdict::Worse));
            false_alarms += usize::from(!wrong.is_empty());
        }
        println!("{figure}: {more} is found in {found} of 200 pairs; another figure is blamed in {false_alarms}");
        assert!(found >= 180, "{figure}: {found} of 200");
        assert!(false_alarms <= 18, "{false_alarms} of 200: at 5 %, so many have a chance of 0.01");
    }
}

const MEAN: &str = "chain localisation end-to-end mean";

#[test]
fn three_runs_a_side_are_told_how_many_are_needed_and_given_no_verdict() {
    let pool = pool();
    let before: Side = pool[..3].to_vec();
    let mut after: Side = pool[3..6].to_vec();
    after.iter_mut().flatten().for_each(|of| of.value *= 10.0);
    let found = compared(&before, &after, MEAN);
    assert!((found.least_p - 0.1).abs() < 1e-12 && !found.can_decide());
    assert_eq!(found.figures[0].verdict, Verdict::Undecided);
    assert_eq!(found.runs_to_decide_any, 4);
    assert!(found.figures[0].runs_needed.is_some_and(|runs| (4..10).contains(&runs)), "{found:?}");
    assert!(tacho_compare::markdown::headline(&found).contains("4 runs a side can"), "{found:?}");
}

#[test]
fn as_many_runs_as_are_named_decide() {
    let (pool, mut seeded) = (pool(), Seeded(5));
    let few = |seeded: &mut Seeded, runs: usize| -> (Side, Side) {
        let draw = |seeded: &mut Seeded| -> Side {
            (0..runs).map(|_| pool[(seeded.next() % pool.len() as u64) as usize].clone()).collect()
        };
        let before = draw(seeded);
        let mut after = draw(seeded);
        after.iter_mut().flatten().filter(|of| of.name == MEAN_COLUMN).for_each(|of| of.value *= 1.1);
        (before, after)
    };
    let (mut decided, mut asked) = (0, 0);
    for _ in 0..200 {
        let (before, after) = few(&mut seeded, 3);
        let first = compared(&before, &after, MEAN);
        let Some(runs) = first.figures[0].runs_needed else { continue };
        let (before, after) = few(&mut seeded, runs);
        asked += 1;
        decided += usize::from(compared(&before, &after, MEAN).figures[0].verdict == Verdict::Worse);
    }
    println!("{decided} of {asked} comparisons are decided by as many runs as were named");
    assert!(asked >= 150 && decided * 10 >= asked * 6, "{decided} of {asked}");
}

const MEAN_COLUMN: &str = "chain localisation end-to-end mean ms";

#[test]
fn equal_values_are_unchanged_and_a_change_from_zero_is_worse() {
    let side = |loss: f64| -> Side {
        let mut of = pool()[0][0].clone();
        (of.name, of.better, of.is_tail, of.value) = ("loss".into(), Better::Lower, false, loss);
        vec![vec![of]; 6]
    };
    assert_eq!(compared(&side(0.0), &side(0.0), "").figures[0].verdict, Verdict::Unchanged);
    let worse = &compared(&side(0.0), &side(2.0), "").figures[0];
    assert_eq!((worse.verdict, worse.change_percent, worse.shift), (Verdict::Worse, None, 2.0));
    assert_eq!(compared(&side(2.0), &side(0.0), "").figures[0].verdict, Verdict::Better);
    let slightly = &compared(&side(100.0), &side(101.0), "").figures[0];
    assert_eq!(slightly.verdict, Verdict::Unchanged, "1 % does not matter");
}
