//! The report of the last seconds of a recording that goes on, as a page on loopback.

use crate::exit::Failure;
use anyhow::Context;
use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tacho_events::run::Load;
use tacho_events::RunDirectory;
use tacho_figures::live::{due_again, LiveWindow};
use tacho_recording::load::Sample;
use tacho_report::live::{self, Live};
use tacho_report::{embed, ReportRun};
use tacho_workload::Workload;
use tiny_http::{Header, Method, Request, Response, Server};

/// How often events are read, whether somebody looks or not: a reading must not grow without bound.
const READ_EVERY: Duration = Duration::from_secs(1);
/// How long it takes at most until the end of the recording is seen.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How long a browser that asks again is waited for, to show it the end.
const END_WITHIN: Duration = Duration::from_secs(10);
/// Where the page asks for its next state.
const STATE: &str = "/page.json";

/// A page that a browser opens, and its server.
pub struct LivePage {
    server: Server,
    run: RunDirectory,
    label: String,
    workload: Option<Workload>,
    window: LiveWindow,
    /// When it is read next.
    read_at: Instant,
    span: Duration,
    interval: Duration,
    state: Option<State>,
    /// When a browser asked last.
    asked: Option<Instant>,
    machine: Machine,
    /// Writes the last answer, because a browser that stalls may take it at any time.
    answering: Option<JoinHandle<()>>,
    has_shown_end: bool,
}

/// What the page showed last.
struct State {
    json: String,
    has_ended: bool,
    due: Instant,
}

/// Takes a port of 127.0.0.1, any that is free if it is 0.
pub fn bind(port: u16) -> Result<Server, Failure> {
    let at = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    Server::http(at).map_err(|error| Failure::Usage(format!("the page at http://{at}: {error}")))
}

impl LivePage {
    /// The figures are made over the last `span` of the run, every `interval` at most.
    pub fn new(
        server: Server,
        run: &RunDirectory,
        label: &str,
        workload: Option<Workload>,
        (span, interval): (Duration, Duration),
    ) -> LivePage {
        LivePage {
            server,
            run: run.clone(),
            label: label.to_owned(),
            workload,
            window: LiveWindow::new(run, span.as_nanos() as i64),
            read_at: Instant::now(),
            span,
            interval,
            state: None,
            asked: None,
            machine: Machine::default(),
            answering: None,
            has_shown_end: false,
        }
    }

    /// What a browser opens.
    pub fn address(&self) -> String {
        self.server.server_addr().to_ip().map_or_else(String::new, |at| format!("http://{at}/"))
    }

    /// Answers browsers until `stop` says so. `ended`: whether nothing more will come; what is there then is still
    /// shown to a browser that looks on.
    pub fn serve(&mut self, stop: impl Fn() -> bool, ended: impl Fn() -> bool) -> Result<(), Failure> {
        while !stop() || self.owes_the_end(&ended) {
            if Instant::now() >= self.read_at {
                self.read()?;
            }
            let rest = self.read_at.saturating_duration_since(Instant::now()).min(LOOK_EVERY);
            if let Some(request) = self.server.recv_timeout(rest).context("requests of browsers")? {
                self.answer(request, &ended)?;
            }
        }
        Ok(())
    }

    fn read(&mut self) -> Result<(), Failure> {
        self.window.read().context("events of the run")?;
        self.machine.look(self.window.pids(), self.span);
        self.read_at = Instant::now() + READ_EVERY;
        Ok(())
    }

    /// Whether a browser that looks on has not seen the end yet.
    fn owes_the_end(&self, ended: impl Fn() -> bool) -> bool {
        let looks_on = self.asked.is_some_and(|asked| asked.elapsed() < END_WITHIN);
        let is_answering = self.answering.as_ref().is_some_and(|thread| !thread.is_finished());
        looks_on && ended() && (!self.has_shown_end || is_answering)
    }

    fn answer(&mut self, request: Request, ended: impl Fn() -> bool) -> Result<(), Failure> {
        let path = request.url().split(['?', '#']).next().unwrap_or_default();
        let refused = match (request.method(), path) {
            _ if !is_of_this_machine(&request) => Some(403),
            (Method::Get, "/" | STATE) => None,
            (Method::Get, _) => Some(404),
            _ => Some(405),
        };
        let (code, kind, body) = match refused {
            Some(code) => (code, "text/plain; charset=utf-8", format!("{code}: this page is at {}\n", self.address())),
            None => {
                self.make_state(ended)?;
                let State { json, has_ended, .. } = self.state.as_ref().expect("made above");
                self.asked = Some(Instant::now());
                self.has_shown_end |= has_ended;
                match path {
                    STATE => (200, "application/json", json.clone()),
                    _ => (200, "text/html; charset=utf-8", embed::into_live_template(json)),
                }
            }
        };
        let headers = [("Content-Type", kind), ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff")];
        let response = headers.iter().fold(Response::from_string(body).with_status_code(code), |response, header| {
            let header = Header::from_bytes(header.0, header.1).expect("a header of ASCII");
            response.with_header(header)
        });
        let answering = std::thread::Builder::new().name("tacho-answer".into()).spawn(move || {
            // A browser that has gone away misses nothing.
            let _gone = request.respond(response);
        });
        self.answering = Some(answering.context("a thread that answers a browser")?);
        Ok(())
    }

    /// Makes the state to show, if it is due.
    fn make_state(&mut self, ended: impl Fn() -> bool) -> Result<(), Failure> {
        if self.state.as_ref().is_none_or(|state| Instant::now() >= state.due) {
            // Asked before reading, so that the last state has all that was written.
            let has_ended = ended();
            let begun = Instant::now();
            self.read()?;
            let seen = self.window.facts();
            let mut info = self.run.info().unwrap_or_default();
            info.load = info.load.or_else(|| self.machine.load());
            if info.cut_short {
                // What it says is for the case that nobody comes to complete it.
                (info.cut_short, info.missing) = (false, Vec::new());
            }
            let (summary, tables) = self.window.whole(self.workload.as_ref(), &info);
            let facts = Live {
                window_s: self.span.as_secs_f64(),
                filled_s: seen.filled_ns as f64 / 1e9,
                processes: seen.processes,
                events_per_s: seen.events_per_s,
                dropped_events: seen.dropped_events,
                has_ended,
                ask_again_ms: self.interval.as_millis() as u64,
            };
            let run = ReportRun::new(&self.label, self.run.clone(), info, summary, tables);
            let json = live::state(&run, facts).context("the page of the run")?;
            self.state = Some(State { json, has_ended, due: due_again(begun, self.interval) });
        }
        Ok(())
    }
}

/// What the machine did during the window, as a recording notes it of a whole run: without it, a culprit would be named
/// for what other programs do.
#[derive(Default)]
struct Machine {
    pids: Vec<u32>,
    /// One a reading, and when it was taken.
    samples: VecDeque<(Instant, Sample)>,
}

impl Machine {
    fn look(&mut self, pids: Vec<u32>, span: Duration) {
        if pids != self.pids {
            // Those of before took a process of the system for another one.
            self.samples.clear();
            self.pids = pids;
        }
        self.samples.push_back((Instant::now(), Sample::now(&self.pids)));
        // The first one is the last that is as old as the window.
        while self.samples.get(1).is_some_and(|(taken, _)| taken.elapsed() >= span) {
            self.samples.pop_front();
        }
    }

    /// Absent until there are two samples.
    fn load(&self) -> Option<Load> {
        let ((_, first), (_, last)) = self.samples.front().zip(self.samples.back())?;
        (self.samples.len() > 1).then(|| first.until(last))
    }
}

/// Whether the browser asked for this machine by its own name: a page of elsewhere, whose name leads here, may not
/// read what is recorded.
fn is_of_this_machine(request: &Request) -> bool {
    let host = request.headers().iter().find(|header| header.field.equiv("Host"));
    let name = host.map(|host| host.value.as_str().rsplit_once(':').map_or(host.value.as_str(), |(name, _)| name));
    name.is_some_and(|name| ["127.0.0.1", "localhost"].contains(&name))
}
