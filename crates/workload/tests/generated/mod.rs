//! Workloads drawn at random, with all kinds of options.

use std::time::Duration;
use tacho_workload::model::*;
use tacho_workload::random::Draws;

/// What they are drawn from.
pub struct Draw(Draws);

impl Draw {
    pub fn new(seed: u64) -> Draw {
        Draw(Draws::new(seed))
    }

    pub fn next(&mut self) -> u64 {
        self.0.bits()
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn chance(&mut self) -> bool {
        self.below(2) == 0
    }

    fn hz(&mut self) -> f64 {
        match self.below(3) {
            0 => (1 + self.below(1000)) as f64,
            1 => (1 + self.below(1_000_000)) as f64 / 1000.0,
            _ => f64::from_bits(0x3ff0_0000_0000_0000 + self.below(1 << 56)).min(1e6),
        }
    }

    fn time(&mut self) -> Duration {
        let bits = self.below(41);
        Duration::from_nanos(self.next() >> (63 - bits))
    }

    /// Recorded times, and their number by the time after which they begin again.
    fn recorded(&mut self) -> (Option<f64>, Vec<Duration>) {
        let mut sent_at = vec![self.time()];
        for _ in 0..1 + self.below(5) {
            sent_at.push(*sent_at.last().unwrap() + self.time() + Duration::from_micros(1));
        }
        let again = *sent_at.last().unwrap() - sent_at[0] + self.time() + Duration::from_micros(1);
        let again_hz = sent_at.len() as f64 / again.as_secs_f64();
        (if self.chance() { tacho_workload::mean_hz(&sent_at) } else { Some(again_hz) }, sent_at)
    }

    fn qos(&mut self) -> Qos {
        let keep_all = self.chance();
        let depth = if keep_all { 10 } else { 1 + self.below(100) as u32 };
        Qos { reliable: self.chance(), transient_local: self.chance(), keep_all, depth }
    }

    fn executor(&mut self) -> Executor {
        match self.below(3) {
            0 => Executor::Arrival,
            1 => Executor::Spin { hz: self.hz() },
            _ => Executor::Timer { hz: self.hz() },
        }
    }

    fn matching(&mut self, inputs: &[Subscription]) -> Matching {
        let policy = [Policy::Exact, Policy::Approximate, Policy::Newest][self.below(3) as usize];
        let queue = 1 + self.below(100) as u32;
        if policy != Policy::Approximate {
            return Matching { queue, ..Matching::default() };
        }
        let age_penalty_percent = self.below(100_001) as f64 / 1000.0;
        let lower_bounds = inputs.iter().filter(|s| !s.latest).map(|s| (s.topic.clone(), self.time())).collect();
        let max_interval = self.chance().then(|| self.time());
        Matching { policy, queue, max_interval, age_penalty_percent, lower_bounds }
    }

    fn work(&mut self) -> Work {
        match self.below(6) {
            5 => self.task(),
            _ => self.drawn(),
        }
    }

    /// Work that is no task.
    fn drawn(&mut self) -> Work {
        let (a, b) = (self.time(), self.time());
        match self.below(5) {
            0 => Work::None,
            1 => Work::Fixed(a),
            2 => Work::Uniform { min: a.min(b), max: a.max(b) },
            3 => Work::Normal { mean: a, std: b },
            _ => {
                let mut times: Vec<Duration> = (0..2 + self.below(6)).map(|_| self.time()).collect();
                times.sort();
                Work::Quantiles {
                    times,
                    autocorrelation_percent: if self.chance() { 0.0 } else { self.below(100_001) as f64 / 1000.0 },
                }
            }
        }
    }

    /// What a callback alone does, if its node has no task.
    fn own(&mut self, work: &Work) -> Own {
        // None is written as 0 s, which is read as a time.
        let time = |draw: &mut Self| match draw.drawn() {
            Work::None => Work::Fixed(Duration::ZERO),
            time => time,
        };
        let some = |draw: &mut Self| (draw.chance() && !matches!(work, Work::Task { .. })).then(|| time(draw));
        Own { work: some(self), sleep: some(self), group: None }
    }

    /// Timers of a node, and the callbacks that make its publication.
    fn timers_and_causes(&mut self, inputs: &[String], work: &Work) -> (Vec<NodeTimer>, Vec<Cause>) {
        const NAMES: [&str; 3] = ["plan", "no", "rate"];
        let count = self.below(4) as usize;
        let timers: Vec<NodeTimer> = NAMES[..count]
            .iter()
            .map(|name| NodeTimer { name: name.to_string(), hz: self.hz(), own: self.own(work) })
            .collect();
        let names = inputs.iter().cloned().chain(timers.iter().map(|timer| timer.name.clone()));
        let cause = |name: String| {
            let share_percent = if self.chance() { 100.0 } else { self.below(100_001) as f64 / 1000.0 };
            let burst = if self.chance() { 1 } else { 1 + self.below(1_000) as u32 };
            let times = if self.chance() { 1 } else { 1 + self.below(1_000) as u32 };
            self.chance().then_some(Cause { name, share_percent, burst, times })
        };
        let causes = names.filter_map(cause).collect();
        (timers, causes)
    }

    fn task(&mut self) -> Work {
        const NAMES: [&str; 3] = ["speed", "no", "y"];
        const VALUES: [&str; 6] = ["5 m/s", "-2.5 m/s^2", "60000", "null", "a: \"b\", #c", "0.5 %"];
        let count = self.below(4) as usize;
        let parameter = |name: &&str| (name.to_string(), VALUES[self.below(6) as usize].to_string());
        let parameters = NAMES[..count].iter().map(parameter).collect();
        Work::Task { name: ["odometry", "off"][self.below(2) as usize].into(), parameters }
    }

    fn hosts(&mut self) -> Vec<Host> {
        const NAMES: [&str; 3] = ["vehicle", "no", "roadside"];
        let count = if self.chance() { 0 } else { 1 + self.below(3) as usize };
        let host = |draw: &mut Draw, name: &&str| {
            let link = Link {
                rate_bit_per_s: draw.chance().then(|| 1 + draw.below(1 << 40)),
                delay: draw.chance().then(|| Duration::from_nanos(draw.below(60_000_000_001))),
                loss_percent: draw.chance().then(|| draw.below(100_001) as f64 / 1000.0),
            };
            Host { name: name.to_string(), link }
        };
        NAMES[..count].iter().map(|name| host(self, name)).collect()
    }

    fn scheduling(&mut self) -> Scheduling {
        match self.below(3) {
            0 => Scheduling::Nice(self.below(40) as i32 - 20),
            1 => Scheduling::Fifo(1 + self.below(99) as u32),
            _ => Scheduling::RoundRobin(1 + self.below(99) as u32),
        }
    }

    fn deadline(&mut self) -> Option<Duration> {
        self.chance().then(|| self.time() + Duration::from_nanos(1))
    }

    /// Pairs as the rule makes them, or with one thing changed, so that they must be written out.
    pub fn topology(&mut self) -> Workload {
        let publication =
            Publication { size_bytes: 1 + self.below(1 << 20), deadline: self.deadline(), ..Default::default() };
        let rate = self.hz();
        let mut text = format!(
            "topology: {{kind: {}, nodes: {}, size: {}, rate: {}}}\nrun: {{cpus: {{all: [1]}}}}\n",
            ["pairs", "one-to-many", "many-to-one"][self.below(3) as usize],
            1 + self.below(12),
            tacho_workload::units::format_size(publication.size_bytes),
            tacho_workload::units::format_frequency(rate),
        );
        if self.chance() {
            text = text.replace("size:", "process: shared, size:");
        } else if self.chance() {
            let ends =
                "publishers: {host: a, middleware: micro}, subscribers: {host: b, middleware: {ros2: udp}}, size:";
            text = text.replace("size:", ends) + "hosts: {a: , b: }\n";
        } else if self.chance() {
            let offers = ["depth: 7", "history: keep_all", "durability: transient_local"][self.below(3) as usize];
            let asks = ["depth: 5", "history: keep_last, depth: 10", "reliability: best_effort, durability: volatile"]
                [self.below(3) as usize];
            let ends = format!("publishers: {{{offers}}}, subscribers: {{{asks}}}, size:");
            text = text.replace("size:", &ends);
        }
        let (mut workload, _) = tacho_workload::parse(&text, "topology.yaml").unwrap_or_else(|e| panic!("{e}"));
        if self.chance() {
            let at = self.below(workload.nodes.len() as u64) as usize;
            workload.nodes[at].work = Work::Fixed(Duration::from_micros(1));
        }
        if self.chance() {
            workload.run.cpus.pop();
        }
        workload
    }

    /// A chain of nodes with all kinds of options; each reads the one before, and sometimes others.
    pub fn workload(&mut self) -> Workload {
        const NAMES: [&str; 8] = ["on", "null", "lidar", "y", "ndt_matching", "_x1", "true", "Sink"];
        const TYPES: [&str; 5] = ["", "TwistStamped", "PointCloud1m", "sensor_msgs/msg/Image", "42"];
        let count = 1 + self.below(NAMES.len() as u64) as usize;
        let hosts = self.hosts();
        // A process is on one host, and speaks one middleware.
        let mut shared: Option<(String, Option<(String, String)>)> = None;
        let mut nodes: Vec<Node> = Vec::new();
        for (index, name) in NAMES.iter().take(count).enumerate() {
            let executor = self.executor();
            let timer = matches!(executor, Executor::Timer { .. });
            let work = self.work();
            let has_task = matches!(work, Work::Task { .. });
            let mut subscribes = Vec::new();
            for (other, node) in nodes.iter().enumerate() {
                if other + 1 == index || self.chance() {
                    let latest = timer || (other + 1 != index && self.chance());
                    // Asked for what is offered.
                    let offered = node.publishes[0].qos;
                    let qos =
                        Qos { reliable: offered.reliable, transient_local: offered.transient_local, ..self.qos() };
                    let own = self.own(&work);
                    subscribes.push(Subscription { topic: node.publishes[0].topic.clone(), qos, latest, own });
                }
            }
            let rate_hz = match executor {
                Executor::Timer { .. } => None,
                Executor::Spin { hz } => self.chance().then_some(hz / 2.0),
                Executor::Arrival if index == 0 => Some(self.hz()),
                Executor::Arrival => self.chance().then(|| self.hz()),
            };
            let publication = Publication {
                topic: format!("/out/t{index}"),
                message_type: TYPES[self.below(5) as usize].into(),
                size_bytes: 1 + (self.next() >> (34 + self.below(30))),
                rate_hz,
                sent_at: Vec::new(),
                from: Vec::new(),
                own: Own::default(),
                deadline: self.deadline(),
                qos: self.qos(),
            };
            let host = if hosts.is_empty() {
                String::new()
            } else {
                hosts[self.below(hosts.len() as u64) as usize].name.clone()
            };
            let middleware = self.chance().then(|| {
                let transport = if self.chance() { "shm".to_string() } else { String::new() };
                (["micro", "y"][self.below(2) as usize].to_string(), transport)
            });
            let process = if self.chance() { name.to_string() } else { "shared".into() };
            let (host, middleware) = match (&process, &shared) {
                (process, Some(first)) if process == "shared" => first.clone(),
                _ => (host, middleware),
            };
            if process == "shared" {
                shared = Some((host.clone(), middleware.clone()));
            }
            let triggers = subscribes.iter().filter(|s| !s.latest).count();
            let is_plain = middleware.as_ref().is_none_or(|(plugin, _)| plugin != "micro");
            let matches = executor == Executor::Arrival && triggers > 1 && is_plain && self.chance();
            let matching = matches.then(|| self.matching(&subscribes));
            let mut publication = publication;
            let mut timers = Vec::new();
            if matching.is_some() {
                subscribes.iter_mut().filter(|s| !s.latest).for_each(|s| s.own = Own::default());
            } else if executor == Executor::Arrival && !has_task {
                let inputs: Vec<String> = subscribes.iter().filter(|s| !s.latest).map(|s| s.topic.clone()).collect();
                let (own, causes) = self.timers_and_causes(&inputs, &work);
                timers = own;
                if publication.rate_hz.is_none() {
                    publication.from = causes;
                }
            }
            if executor == Executor::Arrival && publication.rate_hz.is_some() {
                publication.own = self.own(&work);
                if is_plain && host != MICRO_HOST && self.chance() {
                    (publication.rate_hz, publication.sent_at) = self.recorded();
                }
            }
            let may_order = is_plain && host != MICRO_HOST && !matches!(executor, Executor::Spin { .. });
            let order =
                (may_order && self.chance()).then(|| if self.chance() { Order::Events } else { Order::WaitSet });
            let is_clocked = executor != Executor::Arrival || publication.rate_hz.is_some() || !timers.is_empty();
            let phase_percent = (is_clocked && self.chance()).then(|| self.below(800) as f64 / 8.0);
            let mut node = Node {
                name: name.to_string(),
                process,
                host,
                middleware,
                executor,
                phase_percent,
                matching,
                subscribes,
                publishes: vec![publication],
                timers,
                sleep: if has_task { Work::None } else { self.drawn() },
                work,
                thread: None,
                threads: None,
                order,
                python: self.chance(),
            };
            without_load_of_none(&mut node);
            nodes.push(node);
        }
        let chain = nodes.iter().map(|node| node.name.clone()).collect();
        let mut chain = Chain::new("off", chain);
        if count > 1 && self.chance() {
            let named: Vec<_> = (1..count).map(|after| self.chance().then(|| format!("/out/t{}", after - 1))).collect();
            chain.topics = if named.iter().any(Option::is_some) { named } else { Vec::new() };
        }
        let chains = if count > 1 { vec![chain] } else { Vec::new() };
        let cpus = if self.chance() { vec![(NAMES[0].to_string(), vec![1, 0])] } else { Vec::new() };
        let priority = match self.below(3) {
            0 => Vec::new(),
            1 => vec![(NAMES[0].to_string(), self.scheduling())],
            _ => {
                let alike = self.scheduling();
                nodes.iter().map(|node| (node.name.clone(), alike)).collect()
            }
        };
        let run = RunOptions {
            duration: self.time() + Duration::from_nanos(1),
            repeats: 1 + self.below(100) as u32,
            seed: self.next(),
            cpus,
            priority,
            background_cpu: self.below(3) as u32,
            start: if self.chance() { Start::Together } else { Start::AtOnce },
            domain: self.chance().then(|| self.below(233) as u32),
            in_node_clock: self.chance(),
            wire: false,
        };
        let study = self.chance().then(|| "a-dds".to_string());
        let topology =
            self.chance().then(|| ["pairs", "one-to-many", "many-to-one"][self.below(3) as usize].to_string());
        let transport = if self.chance() { "udp".into() } else { String::new() };
        Workload { middleware: "ros2".into(), transport, nodes, chains, hosts, topology, study, run }
    }
}

/// Takes what a node computes and sleeps if each of its callbacks has its own.
fn without_load_of_none(node: &mut Node) {
    if node.executor != Executor::Arrival || node.matching.is_some() {
        return;
    }
    let inputs = node.subscribes.iter().map(|s| (&s.own, s.latest));
    let rated = node.publishes.iter().filter(|p| p.rate_hz.is_some()).map(|p| (&p.own, false));
    let own: Vec<_> = inputs.chain(rated).chain(node.timers.iter().map(|timer| (&timer.own, false))).collect();
    let is_of_none = |of: fn(&Own) -> bool| {
        own.iter().any(|(own, _)| of(own)) && own.iter().all(|(own, is_latest)| *is_latest || of(own))
    };
    let (work, sleep) = (is_of_none(|own| own.work.is_some()), is_of_none(|own| own.sleep.is_some()));
    if work {
        node.work = Work::None;
    }
    if sleep {
        node.sleep = Work::None;
    }
}
