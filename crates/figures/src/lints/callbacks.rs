//! Callbacks that take too long, start too late, or lose the CPU.

use super::chains::keeps_deadlines;
use super::facts::{percent, time, Facts};
use super::ran::Ran;
use super::{Case, Lint};
use rustc_hash::FxHashMap as HashMap;
use tacho_tables::row::{numbered, rows_of, Row};
use tacho_tables::rows::grouped::Grouped;
use tacho_tables::{Callback, CallbackKind, Execution, OffCpu};

/// Executions over the period that are no accident: more than one, and more than this part.
const PART_OVER_PERIOD: f64 = 0.01;
/// A wait of as many periods is starvation.
const STARVED_PERIODS: i64 = 3;
/// Part of that wait that others must have had the thread for.
const STARVED_BY_OTHERS: f64 = 0.8;
/// Starts that drift is judged by.
const DRIFT_INTERVALS: usize = 20;
/// Part of the period that starts may move in a period.
const DRIFT: f64 = 0.01;
/// Part of the period before a start in which another callback of the thread held it up.
const JUST_BEFORE: f64 = 0.02;
/// Advice where the work itself takes too long.
const LESS_OF_IT: &str = "a longer period, less work a call, or the work moved to a callback of its own";
const LESS_A_MESSAGE: &str = "less work a message, fewer messages, or several threads with a reentrant callback group";
/// Part of a callback's time that others had its CPU.
const PREEMPTED_PART: f64 = 0.1;
/// And of the window.
const PREEMPTED_OF_WINDOW: f64 = 0.015;

/// Begins the evidence against a subscription's callback that takes too long on the average, not now and then.
pub(crate) const ON_AVERAGE: &str = "mean of ";

pub const EXCEEDS_PERIOD: Lint = Lint {
    name: "callback-exceeds-period",
    finds: "a callback takes longer than its timer's period, or than the interval of its messages",
    check: |facts| timers_over(facts).into_iter().chain(subscriptions_over(facts)).collect(),
};

fn timers_over(facts: &Facts<'_>) -> Vec<Case> {
    let case = |(callback, period, ran): (Row<Callback>, i64, &[Ran])| {
        let over: Vec<i64> = ran.iter().map(|r| r.end_ns - r.start_ns).filter(|ns| *ns > period).collect();
        if over.len() < 2 || (over.len() as f64) <= PART_OVER_PERIOD * ran.len() as f64 {
            return None;
        }
        let longest = *over.iter().max()?;
        let doubt = facts.doubt(ran.iter().filter(|r| r.end_ns - r.start_ns > period), "them");
        let (because, next) = doubt.map_or((String::new(), LESS_OF_IT.into()), |doubt| (doubt.evidence, doubt.next));
        // Of executions that overlap, on several threads, none holds the next one up.
        let next_late = ran
            .windows(2)
            .filter(|pair| pair[0].end_ns - pair[0].start_ns > period && pair[0].end_ns <= pair[1].start_ns);
        let next_late = next_late.map(|pair| pair[1].start_ns - pair[0].start_ns - period).max();
        Some(Case {
            subject: facts.callback(callback),
            evidence: format!(
                "{} of {} executions ({}) took longer than the period of {}; the longest {}{because}",
                over.len(),
                ran.len(),
                percent(over.len(), ran.len()),
                time(period),
                time(longest)
            ),
            cost: match next_late {
                Some(late) => {
                    format!("the execution after one of them started up to {} later than a period after it", time(late))
                }
                None => "its executions overlap, each on a thread of its own".into(),
            },
            next,
            weight: over.len() as f64,
            delays: None,
        })
    };
    facts.timers().filter_map(case).collect()
}

/// Those that take longer than the interval of their messages on the average, or now and then.
fn subscriptions_over(facts: &Facts<'_>) -> Vec<Case> {
    let case = |(row, callback): (Row<Callback>, &Callback)| {
        let (ran, topic) = (facts.ran(row), callback.topic.as_deref()?);
        let published =
            Some(facts.published(topic)).filter(|p| p.len() > 2 && callback.kind == CallbackKind::Subscription)?;
        let interval = (published[published.len() - 1] - published[0]) / (published.len() as i64 - 1);
        let mean = ran.iter().map(|r| r.end_ns - r.start_ns).sum::<i64>().checked_div(ran.len() as i64)?;
        // On several threads at once it may answer all of them.
        let one_at_a_time = ran.windows(2).all(|pair| pair[0].end_ns <= pair[1].start_ns);
        if ran.len() < 2 || !one_at_a_time {
            return None;
        }
        if mean <= interval {
            return now_and_then(facts, row, interval, ran);
        }
        let doubt = facts.doubt(ran.iter(), "them");
        let (because, next) =
            doubt.map_or((String::new(), LESS_A_MESSAGE.into()), |doubt| (doubt.evidence, doubt.next));
        Some(Case {
            subject: facts.callback(row),
            evidence: format!(
                "{ON_AVERAGE}{} executions {}; a message comes every {}{because}",
                ran.len(),
                time(mean),
                time(interval)
            ),
            cost: format!(
                "of {} messages published it can answer about {:.0} %, one at a time",
                published.len(),
                100.0 * interval as f64 / mean as f64
            ),
            next,
            weight: mean as f64 / interval.max(1) as f64,
            delays: None,
        })
    };
    numbered(&facts.tables.callbacks).filter_map(case).collect()
}

/// Those that seldom do, but for those that others kept from their CPU.
fn now_and_then(facts: &Facts<'_>, callback: Row<Callback>, interval: i64, ran: &[Ran]) -> Option<Case> {
    let (runnable, blocked) = facts.off_cpu_ns(callback);
    // Waits that it began itself end in short ones for a CPU. What others did is not known of a trace.
    let may_lack_a_cpu = match blocked {
        0 => runnable > 0 || facts.load.is_none() || facts.others().is_some(),
        _ => runnable > blocked && facts.others().is_some(),
    };
    let is_own = |r: &Ran| match r.runnable_ns.get().filter(|_| !facts.is_stolen()) {
        Some(runnable_ns) => r.end_ns - r.start_ns - runnable_ns > interval,
        None => !may_lack_a_cpu || r.cpu_ns.get().is_some_and(|cpu_ns| cpu_ns > interval),
    };
    let over = || ran.iter().filter(|r| r.end_ns - r.start_ns > interval && is_own(r));
    let count = over().count();
    if count < 2 || count as f64 <= PART_OVER_PERIOD * ran.len() as f64 {
        return None;
    }
    let longest = over().map(|r| r.end_ns - r.start_ns).max()?;
    let doubt = facts.doubt(over(), "them");
    let (because, next) = doubt.map_or((String::new(), LESS_A_MESSAGE.into()), |doubt| (doubt.evidence, doubt.next));
    Some(Case {
        subject: facts.callback(callback),
        evidence: format!(
            "{count} of {} executions ({}) took longer than the {} between two messages; the longest {}{because}",
            ran.len(),
            percent(count, ran.len()),
            time(interval),
            time(longest)
        ),
        cost: format!("messages that come meanwhile wait up to {}", time(longest)),
        next,
        weight: longest as f64 / interval.max(1) as f64 * count as f64 / ran.len() as f64,
        delays: None,
    })
}

pub const STARVED: Lint = Lint {
    name: "starved-callback",
    finds: "a callback was ready and waited for periods while the thread that then ran it was in others",
    check: |facts| {
        let timers = facts.timers().filter_map(|(callback, period, ran)| {
            // Due a period after the start before.
            let waits = ran.windows(2).map(|pair| (pair[0].start_ns + period, pair[1]));
            starved(facts, callback, period, waits)
        });
        let due = Grouped::new(facts.tables.callbacks.len(), || {
            facts.messages().filter_map(|message| {
                let there = message.arrival_ns.get().or(message.publish_ns.get())?;
                let ran = Ran::of(&facts.tables.executions[message.execution?])?;
                (there < ran.start_ns).then_some((ran.callback, (there, ran)))
            })
        });
        let subscriptions = numbered(&facts.tables.callbacks).filter_map(|(row, callback)| {
            let published = Some(facts.published(callback.topic.as_deref()?)).filter(|p| p.len() > 2)?;
            let interval = (published[published.len() - 1] - published[0]) / (published.len() as i64 - 1);
            starved(facts, row, interval, due.of(row).iter().copied())
        });
        timers.chain(subscriptions).collect()
    },
};

/// Whether that is found of a timer.
pub(super) fn starves(facts: &Facts<'_>, timer: Row<Callback>, period: i64, ran: &[Ran]) -> bool {
    starved(facts, timer, period, ran.windows(2).map(|pair| (pair[0].start_ns + period, pair[1]))).is_some()
}

/// `waits`: when it was ready, and the execution that came of it.
fn starved(
    facts: &Facts<'_>,
    callback: Row<Callback>,
    period: i64,
    waits: impl Iterator<Item = (i64, Ran)>,
) -> Option<Case> {
    let process = facts.tables.callbacks[callback].process;
    let (mut count, mut all, mut worst, mut near) = (0usize, 0usize, None, 0);
    for (ready, ran) in waits {
        all += 1;
        let wait = ran.start_ns - ready;
        if wait < STARVED_PERIODS * period.max(1) {
            continue;
        }
        let (others, most) = facts.busy_with_others((process, ran.tid), callback, (ready, ran.start_ns), &mut near);
        if others as f64 >= STARVED_BY_OTHERS * wait as f64 {
            count += 1;
            if worst.is_none_or(|(longest, _)| wait > longest) {
                worst = Some((wait, most));
            }
        }
    }
    let (longest, by) = worst?;
    let doubt = by.and_then(|by| facts.doubt(facts.ran(by).iter(), &facts.callback(by)));
    let (because, next) = match doubt {
        Some(doubt) => (doubt.evidence, doubt.next),
        None if facts.tables.is_in_python(callback) => {
            (String::new(), "a node with an executor and thread of its own, or a process of its own".into())
        }
        None => {
            (String::new(), "a callback group and thread of its own, or an executor that orders by priority".into())
        }
    };
    let by = by.map_or(String::new(), |by| format!(", the longest part of it in {}", facts.callback(by)));
    Some(Case {
        subject: facts.callback(callback),
        evidence: format!(
            "{count} of {all} times it waited {STARVED_PERIODS} periods of {} or more, while the thread that then ran \
             it was in others for four fifths of it or more; the longest {}{by}{because}",
            time(period),
            time(longest)
        ),
        cost: format!("it started up to {} after it was ready", time(longest)),
        next,
        weight: longest as f64,
        delays: None,
    })
}

pub const TIMER_DRIFT: Lint = Lint {
    name: "timer-drift",
    finds: "a timer does not keep its period though its callback leaves it time",
    check: |facts| {
        let case = |(callback, period, ran): (Row<Callback>, i64, &[Ran])| {
            if ran.len() <= DRIFT_INTERVALS || ran.iter().any(|r| r.end_ns - r.start_ns > period) {
                return None;
            }
            let process = facts.tables.callbacks[callback].process;
            // What others kept it from is starvation or a full thread, and other lints'.
            let mut near = 0;
            let is_held = |before: &Ran, ran: &Ran| {
                let thread = (process, ran.tid);
                let mut others = |from| facts.busy_with_others(thread, callback, (from, ran.start_ns), &mut near).0 > 0;
                let due = before.start_ns + period;
                (ran.start_ns > due && others(due)) || others(ran.start_ns - (period as f64 * JUST_BEFORE) as i64)
            };
            let (moved, free) = movement(period, ran, is_held)?;
            let off = moved / period as f64;
            (off.abs() > DRIFT).then(|| Case {
                subject: facts.callback(callback),
                evidence: format!(
                    "{free} starts that no other callback of its thread held up move by {} a period of {} \
                     ({:+.1} %)",
                    time(moved.abs() as i64),
                    time(period),
                    100.0 * off
                ),
                cost: {
                    let an_hour = 3.6e12 / (period as f64 + moved) - 3.6e12 / period as f64;
                    format!(
                        "{:.1} activations an hour too {}",
                        an_hour.abs(),
                        if an_hour < 0.0 { "few" } else { "many" }
                    )
                },
                next: "what its thread does meanwhile (tacho record --scheduler shows when it had no CPU); if \
                           it sleeps for a period after its work, a timer of the executor"
                    .into(),
                weight: off.abs(),
                delays: None,
            })
        };
        facts.timers().filter_map(case).collect()
    },
};

/// How far starts move against the grid of their timer, ns a period, and how many starts that nothing held up say so.
/// `None`: too few to tell. Between two such starts lies a whole number of periods, whatever became of the starts
/// between them.
fn movement(period: i64, ran: &[Ran], mut is_held: impl FnMut(&Ran, &Ran) -> bool) -> Option<(f64, usize)> {
    let free: Vec<i64> =
        ran.windows(2).filter(|pair| !is_held(&pair[0], &pair[1])).map(|pair| pair[1].start_ns).collect();
    if free.len() < DRIFT_INTERVALS {
        return None;
    }
    // Of each: periods since the first one, and how far it lies from there, ns.
    let (mut periods, mut phase, mut places) = (0, 0, vec![(0, 0)]);
    for pair in free.windows(2) {
        let interval = pair[1] - pair[0];
        let passed = (interval + period / 2).div_euclid(period);
        (periods, phase) = (periods + passed, phase + interval - passed * period);
        places.push((periods, phase));
    }
    // Medians of the first and the last third: single late starts do not count.
    let middle = |of: &[(i64, i64)]| {
        let mut phases: Vec<i64> = of.iter().map(|(_, phase)| *phase).collect();
        phases.sort_unstable();
        (of[of.len() / 2].0, phases[phases.len() / 2])
    };
    let third = places.len() / 3;
    let (first, last) = (middle(&places[..third]), middle(&places[places.len() - third..]));
    (last.0 > first.0).then(|| ((last.1 - first.1) as f64 / (last.0 - first.0) as f64, free.len()))
}

pub const PREEMPTED: Lint = Lint {
    name: "preempted-callback",
    finds: "a callback could have gone on and had no CPU for a good part of its time",
    check: |facts| {
        // Of the same executions as the times below.
        let counts = |e: &&Execution| e.end_ns.get().is_some() && e.resumes.is_none() && facts.judges(e.start_ns);
        let mut had: HashMap<Row<Callback>, HashMap<&str, i64>> = HashMap::default();
        for row in facts.tables.preemptions.iter().filter(|p| p.state == OffCpu::Runnable) {
            let execution = row.execution.map(|e| &facts.tables.executions[e]).filter(counts);
            if let Some((execution, by)) = execution.zip(row.by_comm.as_deref()) {
                *had.entry(execution.callback).or_default().entry(by).or_default() += row.to_ns - row.from_ns;
            }
        }
        let case = |callback: Row<Callback>| {
            let ran = facts.ran(callback);
            let wall: i64 = ran.iter().map(|r| r.end_ns - r.start_ns).sum();
            let taken: i64 = ran.iter().filter_map(|r| r.runnable_ns.get()).sum();
            let most = had.get(&callback).and_then(|by| by.iter().max_by_key(|(name, ns)| (**ns, **name)));
            // What keeps every deadline that somebody stated, and loses no input, lacks nothing.
            let matters = taken as f64 > PREEMPTED_PART * wall as f64
                && taken as f64 >= PREEMPTED_OF_WINDOW * facts.window_ns() as f64
                && (facts.loses_inputs(callback) || !keeps_deadlines(facts, callback));
            let had_it = match most {
                Some((by, ns)) => format!("; {} of that to {by}", time(*ns)),
                None if facts.tables.preemptions.is_empty() => {
                    format!("{}; tacho record --scheduler on names who had it", facts.meanwhile())
                }
                None => format!("{}; who had it is not known", facts.meanwhile()),
            };
            matters.then(|| Case {
                subject: facts.callback(callback),
                evidence: format!(
                    "of {} inside it, its thread could have gone on and had no CPU for {} ({:.1} %){had_it}",
                    time(wall),
                    time(taken),
                    100.0 * taken as f64 / wall.max(1) as f64
                ),
                cost: format!("{} a call on the average", time(taken / (ran.len() as i64).max(1))),
                next: "a CPU of its own (taskset), SCHED_FIFO, or less beside it".into(),
                weight: taken as f64,
                delays: None,
            })
        };
        rows_of(&facts.tables.callbacks).filter_map(case).collect()
    },
};
