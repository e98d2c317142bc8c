//! Executors of several threads, by chance: what must hold of every run of one, and that nothing is found on one that
//! is busy and keeps up.

#[path = "../../analysis/tests/scene/mod.rs"]
mod scene;
mod simulated;

use scene::*;
use simulated::Chance;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use tacho_analysis::{Analysis, Options};
use tacho_events::testing::FileBuilder;
use tacho_events::Reader;
use tacho_figures::{summarise, Repeat};
use tacho_tables::row::Row;
use tacho_tables::summary::Summary;
use tacho_tables::{Delivery, EndpointKind, Tables};
use tacho_workload::links;

const US: i64 = 1_000;
const MS: i64 = 1_000 * US;
const POOL: u32 = 100;
const SINK: u32 = 200;
const KERNEL: u32 = 0;
const OTHER: u64 = 9_999;
const A_SUBSCRIPTION: u64 = 1;
const DEPTH: usize = 10;
const OFFSET: u64 = 0x100;

/// Sensors of some periods, a node with a subscription to each and a timer on an executor of several threads, which
/// publishes in each callback but the timer's, and a sink.
struct System {
    seed: u64,
    threads: usize,
    /// Period of each sensor's messages, and how long the pool works on one.
    sensors: Vec<(i64, i64)>,
    /// Of each subscription; those of one group exclude each other.
    groups: Vec<u64>,
    timer: (i64, i64),
    until: i64,
}

/// What truly happened to the messages of each sensor.
#[derive(Default)]
struct Truth {
    sent: BTreeMap<usize, Vec<i64>>,
    taken: BTreeMap<usize, BTreeSet<i64>>,
    overwritten: BTreeMap<usize, BTreeSet<i64>>,
    working_ns: i64,
}

/// A thread of the pool.
#[derive(Clone, Copy)]
struct Thread {
    tid: u32,
    free: i64,
}

struct Pool {
    chance: Chance,
    builder: FileBuilder,
    threads: Vec<Thread>,
    /// Until when each group is taken.
    taken: BTreeMap<u64, i64>,
    /// Messages that are there or will be, by arrival, of each subscription: (arrival, publish time).
    queues: Vec<VecDeque<(i64, i64)>>,
    next_timer: i64,
    /// When the thread that waited last stopped waiting: another may then.
    left: i64,
    outputs: Vec<i64>,
    truth: Truth,
}

impl System {
    fn by_chance(seed: u64) -> System {
        let mut chance = Chance(seed);
        let sensors = (0..chance.within(1, 3))
            .map(|_| (chance.within(5, 40) * MS, chance.within(1, 30) * MS))
            .collect::<Vec<_>>();
        System {
            seed,
            threads: chance.within(2, 4) as usize,
            groups: sensors.iter().map(|_| chance.within(0, 2) as u64).collect(),
            sensors,
            timer: (chance.within(20, 100) * MS, chance.within(1, 10) * MS),
            until: chance.within(400, 1_500) * MS,
        }
    }

    /// Two threads, busy for 65 % of the time, with a group for each callback.
    fn busy(seed: u64, load: f64) -> System {
        let work = |period: i64, share: f64| (period, (period as f64 * share * load / 0.65) as i64);
        let sensors = vec![work(20 * MS, 0.5), work(25 * MS, 0.4), work(40 * MS, 0.37)];
        System { seed, threads: 2, sensors, groups: vec![0, 1, 2], timer: work(100 * MS, 0.03), until: 8_000 * MS }
    }

    fn run(&self) -> (FileBuilder, Truth) {
        let mut pool = Pool {
            chance: Chance(self.seed ^ 0x5eed),
            builder: FileBuilder::new(),
            threads: (0..self.threads as u32).map(|n| Thread { tid: POOL + n, free: 10 * US }).collect(),
            taken: BTreeMap::new(),
            queues: Vec::new(),
            next_timer: self.timer.0,
            left: 10 * US,
            outputs: Vec::new(),
            truth: Truth::default(),
        };
        pool.begin(self);
        pool.sensors(self);
        while pool.one_job(self) {}
        pool.sink(self);
        pool.end(self);
        (pool.builder, pool.truth)
    }
}

impl Pool {
    fn emit(&mut self, event: impl FnOnce(FileBuilder) -> FileBuilder) {
        self.builder = event(std::mem::take(&mut self.builder));
    }

    /// An event of the CPU that a thread has for itself.
    fn kernel(&mut self, tid: u32, at: i64, event: impl FnOnce(FileBuilder) -> FileBuilder) {
        self.emit(|b| event(b.process(KERNEL).thread(tid).at(at)));
    }

    fn begin(&mut self, system: &System) {
        for (sensor, (period, _)) in system.sensors.iter().enumerate() {
            self.emit(|b| {
                b.node(sensor as u32 + 1, &format!("s{sensor}")).publisher(&format!("/t{sensor}")).timer(*period)
            });
        }
        self.emit(|b| b.node(POOL, "pool").publisher("/out").timer(system.timer.0));
        for (sensor, group) in system.groups.iter().enumerate() {
            let offset = OFFSET * (sensor as u64 + 1);
            self.emit(|b| {
                b.another_subscription(offset, &format!("/t{sensor}")).rclcpp_callback_group_add(
                    0x9000 + group,
                    OBJECT + offset,
                    A_SUBSCRIPTION,
                    true,
                )
            });
        }
        self.emit(|b| b.node(SINK, "sink").subscription("/out"));
        let tids = (1..=system.sensors.len() as u32)
            .chain(self.threads.iter().map(|t| t.tid).collect::<Vec<_>>())
            .chain([SINK]);
        for tid in tids.collect::<Vec<_>>() {
            self.kernel(tid, 1, |b| b.sched_switch(OTHER, 1, u64::from(tid), "other", "node"));
        }
    }

    /// Each publishes on its timer; messages take some time.
    fn sensors(&mut self, system: &System) {
        for (sensor, (period, _)) in system.sensors.iter().enumerate() {
            let mut queue = VecDeque::new();
            let mut n = 1;
            while n * period < system.until {
                let at = n * period + self.chance.within(0, 200) * US + sensor as i64;
                let arrival = at + self.chance.within(50, 400) * US;
                self.emit(|b| {
                    b.process(sensor as u32 + 1)
                        .at(at - 10 * US)
                        .rclcpp_executor_get_next_ready()
                        .start_timer()
                        .at(at)
                        .publish(at)
                        .at(at + 20 * US)
                        .end_timer()
                        .rclcpp_executor_wait_for_work(-1)
                });
                queue.push_back((arrival, at));
                self.truth.sent.entry(sensor).or_default().push(at);
                n += 1;
            }
            self.queues.push(queue);
        }
    }

    /// What is ready first, on the thread that is free first; false: nothing is left to do.
    fn one_job(&mut self, system: &System) -> bool {
        let free = |taken: &BTreeMap<u64, i64>, group: u64| taken.get(&group).copied().unwrap_or(0);
        let of_messages = self.queues.iter().enumerate().filter_map(|(sensor, queue)| {
            Some((queue.front()?.0.max(free(&self.taken, system.groups[sensor])), Some(sensor)))
        });
        let timer = (self.next_timer < system.until).then_some((self.next_timer, None));
        let place = (0..self.threads.len()).min_by_key(|place| (self.threads[*place].free, *place)).expect("threads");
        let Thread { tid, free: since } = self.threads[place];
        let waits = since.max(self.left) + 5 * US;
        // Of what is ready by then the timer, as rclcpp does, else the first.
        let Some((ready, job)) =
            of_messages.chain(timer).min_by_key(|(ready, job)| ((*ready).max(waits), *job, *ready))
        else {
            return false;
        };
        let woken = ready.max(waits) + self.chance.within(5, 60) * US;
        let start = woken + 10 * US;
        if start > system.until {
            return false;
        }
        self.left = woken;
        self.emit(|b| {
            b.process(POOL)
                .thread(tid)
                .at(waits)
                .rclcpp_executor_wait_for_work(-1)
                .at(woken)
                .rclcpp_executor_get_next_ready()
        });
        if ready > waits + US {
            self.kernel(tid, waits + 1, |b| b.sched_switch(u64::from(tid), 1, OTHER, "node", "other"));
            self.kernel(tid, ready + 1, |b| b.sched_wakeup(u64::from(tid), u64::from(tid), 0, "node"));
            self.kernel(tid, woken - 1, |b| b.sched_switch(OTHER, 0, u64::from(tid), "other", "node"));
        }
        let mean = job.map_or(system.timer.1, |sensor| system.sensors[sensor].1);
        let works = mean * self.chance.within(90, 110) / 100;
        let end = start + works;
        // Others have its CPU for a moment, now and then.
        if self.chance.one_in(4) {
            let (from, to) = (start + works / 3, start + works / 3 + works / 50);
            self.kernel(tid, from, |b| b.sched_switch(u64::from(tid), 0, OTHER, "node", "other"));
            self.kernel(tid, to, |b| b.sched_switch(OTHER, 1, u64::from(tid), "other", "node"));
        }
        match job {
            None => {
                self.next_timer += system.timer.0;
                self.emit(|b| b.at_of(tid, start).start_timer().at(end).end_timer());
            }
            Some(sensor) => {
                // What came since and found the queue full.
                while self.queues[sensor].get(DEPTH).is_some_and(|(arrival, _)| *arrival <= woken) {
                    let (_, gone) = self.queues[sensor].pop_front().expect("a full queue");
                    self.truth.overwritten.entry(sensor).or_default().insert(gone);
                }
                let (_, stamp) = self.queues[sensor].pop_front().expect("a message");
                self.truth.taken.entry(sensor).or_default().insert(stamp);
                self.taken.insert(system.groups[sensor], end);
                let (offset, output) = (OFFSET * (sensor as u64 + 1), end - works / 10);
                self.emit(|b| {
                    b.at_of(tid, start)
                        .start_taking_from(offset, stamp)
                        .at(output)
                        .publish(output)
                        .at(end)
                        .end_taking_from(offset)
                });
                self.outputs.push(output);
            }
        }
        self.truth.working_ns += works;
        self.threads[place].free = end;
        true
    }

    fn sink(&mut self, _: &System) {
        self.outputs.sort_unstable();
        let mut free = 0;
        for output in std::mem::take(&mut self.outputs) {
            let at = free.max(output + self.chance.within(50, 300) * US);
            self.emit(|b| {
                b.process(SINK)
                    .thread(SINK)
                    .at(at)
                    .rclcpp_executor_get_next_ready()
                    .start_taking(output)
                    .at(at + 30 * US)
                    .end_taking()
                    .rclcpp_executor_wait_for_work(-1)
            });
            free = at + 50 * US;
        }
    }

    fn end(&mut self, system: &System) {
        let threads: Vec<Thread> = self.threads.clone();
        // One goes on waiting, the others wait for their turn.
        let last = threads.iter().map(|thread| thread.free).max().expect("threads").max(self.left).max(system.until)
            + 1_000 * US;
        let waiting = threads.iter().min_by_key(|thread| thread.free).expect("threads");
        let from = waiting.free.max(self.left) + 5 * US;
        self.emit(|b| b.process(POOL).thread(waiting.tid).at(from).rclcpp_executor_wait_for_work(-1));
        let processes: Vec<u32> = (1..=system.sensors.len() as u32).chain([POOL, SINK]).collect();
        for process in processes {
            self.emit(|b| b.process(process).thread(process + 1_000).at(last).clock_sync(last, last, 10));
        }
        self.kernel(KERNEL, last + 1, |b| b.clock_sync(last + 1, last + 1, 10));
    }
}

trait AtOf {
    fn at_of(self, tid: u32, at: i64) -> Self;
}

impl AtOf for FileBuilder {
    fn at_of(self, tid: u32, at: i64) -> Self {
        self.process(POOL).thread(tid).at(at)
    }
}

fn analysed(builder: &FileBuilder, stated: &str) -> (Tables, Summary) {
    let stated = links::parse(stated, "links.yaml").unwrap_or_else(|e| panic!("{e}"));
    let folder = tempfile::tempdir().expect("folder");
    let mut reader = Reader::open(&builder.write(folder.path()).expect("write")).expect("open");
    let mut analysis = Analysis::new(Default::default());
    reader.processes().iter().for_each(|facts| analysis.add_process(facts));
    reader.for_each(|event, texts| analysis.push(event, texts), &mut |_| {});
    let tables = analysis.finish_with(None, &stated);
    let summary = summarise(&[Repeat { tables: &tables, options: Options::default(), info: None }], None);
    (tables, summary)
}

#[test]
fn what_a_pool_of_threads_was_sent_is_the_sum_of_all_ends_and_parts_add_up() {
    let (mut overwritten, mut instances) = (0, 0);
    for seed in 0..40 {
        let system = System::by_chance(seed);
        let (builder, truth) = system.run();
        let (tables, summary) = analysed(&builder, "");
        for sensor in 0..system.sensors.len() {
            let name = format!("/t{sensor}");
            let of = |row: &&tacho_tables::Message| tables.endpoints[row.subscription].topic == name;
            let with = |delivery: fn(Delivery) -> bool| -> BTreeSet<i64> {
                tables
                    .messages
                    .iter()
                    .filter(of)
                    .filter(|m| delivery(m.delivery))
                    .map(|m| m.publish_ns.get().expect("published"))
                    .collect()
            };
            let (received, lost) = (with(|d| d != Delivery::Lost), with(|d| d == Delivery::Lost));
            let (sent, taken) = (
                truth.sent.get(&sensor).cloned().unwrap_or_default(),
                truth.taken.get(&sensor).cloned().unwrap_or_default(),
            );
            assert_eq!(received, taken, "seed {seed} {name}");
            // Before the first that it took nothing is known; behind the last one all may be under way, unless it was
            // overwritten.
            let gone = truth.overwritten.get(&sensor).cloned().unwrap_or_default();
            let (first, last) = (taken.first().copied(), taken.last().copied());
            let before = sent.iter().filter(|at| first.is_none_or(|first| **at < first)).count();
            let pending = sent.iter().filter(|at| last.is_some_and(|last| **at > last) && !lost.contains(*at)).count();
            assert!(
                lost.iter().all(|at| gone.contains(at) || last.is_some_and(|last| *at > last)),
                "seed {seed} {name}: {lost:?}"
            );
            assert!(
                gone.iter().all(|at| lost.contains(at)
                    || first.is_none_or(|first| *at < first)
                    || last.is_some_and(|last| *at > last)),
                "seed {seed} {name}"
            );
            assert_eq!(received.len() + lost.len() + before + pending, sent.len(), "seed {seed} {name}");
            let topic = summary.topics.iter().find(|topic| topic.topic == name);
            let told = topic.map(|topic| (topic.sent, topic.received, topic.lost.unwrap_or(0)));
            assert_eq!(told, Some((sent.len() as u64, received.len() as u64, lost.len() as u64)), "seed {seed} {name}");
            overwritten += gone.len();
        }
        let publisher =
            tables.endpoints.iter().find(|e| e.kind == EndpointKind::Publisher && e.topic == "/out").map(|e| e.count);
        assert_eq!(
            publisher,
            Some(truth.taken.values().map(|taken| taken.len() as u64).sum()),
            "seed {seed}: an output for each input"
        );
        for (row, instance) in tables.instances.iter().enumerate() {
            let parts = instance.parts();
            assert_eq!(parts.whole_ns(), instance.end_to_end_ns, "seed {seed}: {instance:?}");
            assert!(parts.each().into_iter().flatten().all(|ns| *ns >= 0), "seed {seed}: {instance:?}");
            let causes: Vec<i64> = tables
                .causes
                .iter()
                .filter(|c| c.instance == Some(Row::behind(row)))
                .filter_map(|c| c.duration_ns.get())
                .collect();
            assert!(
                causes.is_empty() || causes.iter().sum::<i64>() == instance.end_to_end_ns,
                "seed {seed}: {instance:?}"
            );
        }
        instances += tables.instances.len();
        for thread in &tables.executors {
            let span = thread.to_ns - thread.from_ns;
            assert_eq!(
                thread.waiting_ns.zip(thread.ready_ns).map(|(a, b)| a + b + thread.executing_ns),
                Some(span),
                "seed {seed}: {thread:?}"
            );
        }
    }
    assert!(overwritten > 50 && instances > 1_000, "{overwritten} {instances}");
}

#[test]
fn nothing_is_found_on_a_system_that_is_busy_and_keeps_every_deadline() {
    let stated: String = (0..3).map(|sensor| format!("  s{sensor} to sink: {{deadline: 80 ms}}\n")).collect();
    let found = |seed: u64, load: f64| {
        let system = System::busy(seed, load);
        let (builder, truth) = system.run();
        let (_, summary) = analysed(&builder, &format!("chains:\n{stated}"));
        let busy = truth.working_ns as f64 / (system.until * system.threads as i64) as f64;
        let lints: Vec<String> = summary
            .findings
            .iter()
            .flatten()
            .map(|f| format!("{}: {} {}", f.lint, f.cases[0].subject, f.cases[0].evidence))
            .collect();
        (busy, lints, summary)
    };
    for seed in 0..12 {
        let (busy, lints, summary) = found(seed, 0.65);
        assert!((0.6..0.7).contains(&busy), "seed {seed}: {busy}");
        assert_eq!(lints, Vec::<String>::new(), "seed {seed}");
        let deadlines: Vec<_> = summary
            .chains
            .iter()
            .filter_map(|chain| Some((chain.instances > 100, chain.deadline_ms?, chain.late_instances?)))
            .collect();
        assert_eq!(deadlines, [(true, 80.0, 0); 3], "seed {seed}");
        assert!(summary.topics.iter().all(|topic| topic.lost == Some(0)), "seed {seed}");
    }
    let (busy, lints, _) = found(1, 0.95);
    assert!(busy > 0.8 && !lints.is_empty(), "the same with more to do is told: {busy}");
}
