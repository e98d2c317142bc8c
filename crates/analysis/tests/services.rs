//! Service calls in chains: out with the request, back with the response, to the nanosecond.

mod scene;

use scene::*;
use tacho_events::testing::FileBuilder;
use tacho_tables::row::Row;
use tacho_tables::{CallbackKind, Execution, LinkEvidence, LinkRule, Tables};

const CLIENT: u64 = 0x60;
const SERVICE: u64 = 0x70;
const SERVICE_CALLBACK: u64 = 0x71;
const GID: [u64; 2] = [7, 8];

/// What planner and map do for a call.
trait Calls {
    fn client(self) -> Self;
    fn service(self) -> Self;
    /// Inside whatever callback the thread is in.
    fn ask(self, sequence: i64) -> Self;
    fn start_answering(self, sequence: i64) -> Self;
    fn answer(self, sequence: i64) -> Self;
    fn response(self, sequence: i64) -> Self;
}

impl Calls for FileBuilder {
    fn client(self) -> Self {
        self.rmw_client_init(CLIENT + 1, GID).rcl_client_init(CLIENT, NODE, CLIENT + 1, "/get_map")
    }

    fn service(self) -> Self {
        self.rcl_service_init(SERVICE, NODE, SERVICE + 1, "/get_map")
            .rclcpp_service_callback_added(SERVICE, SERVICE_CALLBACK)
            .rclcpp_callback_register(SERVICE_CALLBACK, "Map::get()")
    }

    fn ask(self, sequence: i64) -> Self {
        self.rmw_send_request(CLIENT + 1, 0x90, sequence)
    }

    fn start_answering(self, sequence: i64) -> Self {
        self.rclcpp_executor_get_next_ready()
            .rmw_take_request(SERVICE + 1, 0x91, GID, sequence, true)
            .callback_start(SERVICE_CALLBACK, false)
    }

    fn answer(self, sequence: i64) -> Self {
        self.rmw_send_response(SERVICE + 1, 0x92, GID, sequence, 0)
    }

    fn response(self, sequence: i64) -> Self {
        self.rclcpp_executor_get_next_ready().rmw_take_response(CLIENT + 1, 0x93, sequence, 0, true)
    }
}

/// camera --/image--> planner --/get_map--> map, and back; planner --/plan--> wheels.
fn system() -> FileBuilder {
    FileBuilder::new()
        .node(1, "camera")
        .publisher("/image")
        .timer(1_000)
        .node(2, "planner")
        .subscription("/image")
        .publisher("/plan")
        .client()
        .node(3, "map")
        .service()
        .node(4, "wheels")
        .subscription("/plan")
}

/// The one chain of this name and path.
fn chain(tables: &Tables, name: &str, path: &[&str]) -> u32 {
    let found: Vec<usize> = tables
        .chains
        .iter()
        .enumerate()
        .filter(|(_, c)| c.name == name && c.path == path)
        .map(|(row, _)| row)
        .collect();
    assert_eq!(found.len(), 1, "{name} in {:?}", paths(tables));
    found[0] as u32
}

fn paths(tables: &Tables) -> Vec<(&str, Vec<&str>)> {
    tables.chains.iter().map(|c| (c.name.as_str(), c.path.iter().map(String::as_str).collect())).collect()
}

const ROUND: [&str; 7] = ["/camera", "/image", "/planner", "/get_map request", "/map", "/get_map response", "/planner"];

#[test]
fn what_an_executor_computes_before_a_callback_is_not_known_behind_a_response() {
    let tick = |b: FileBuilder, at: i64, cpu_ns: i64| {
        b.at(at).callback_cpu(cpu_ns, false).callback_start(TIMER_CALLBACK, false).ask(1)
    };
    let tock = |b: FileBuilder, at: i64, cpu_ns: i64| b.at(at).end_timer().callback_cpu(cpu_ns, true);
    let wait = |b: FileBuilder, at: i64| b.at(at).rclcpp_executor_wait_for_work(-1);
    let mut b = FileBuilder::new().node(2, "planner").timer(1_000).client();
    b = wait(tock(tick(b, 1_000, 0), 1_010, 5), 1_015);
    // Its callback computes for 50 ns.
    b = wait(b.at(1_020).response(1), 1_100);
    b = wait(tock(tick(b, 1_200, 60), 1_210, 65), 1_220);
    b = wait(tock(tick(b, 2_200, 72), 2_210, 77), 2_220);
    let tables = tables(&b);
    let timer = |row: &&Execution| tables.callbacks[row.callback].kind == CallbackKind::Timer;
    let before: Vec<_> = tables.executions.iter().filter(timer).map(|row| row.executor_cpu_ns.get()).collect();
    assert_eq!(before, [None, None, Some(7)]);
}

/// An image, the call for it, and a plan in the callback of the response.
fn driven() -> FileBuilder {
    system()
        .process(3)
        .at(400)
        .rclcpp_executor_wait_for_work(-1)
        .process(1)
        .at(1_000)
        .start_timer()
        .at(1_020)
        .publish(1)
        .at(1_030)
        .end_timer()
        .process(2)
        .at(1_100)
        .start_taking(1)
        .at(1_150)
        .ask(1)
        .at(1_160)
        .end_taking()
        .at(1_170)
        .rclcpp_executor_wait_for_work(-1)
        .process(3)
        .at(1_180)
        .start_answering(1)
        .at(1_250)
        .callback_end(SERVICE_CALLBACK)
        .at(1_260)
        .answer(1)
        .at(1_270)
        .rclcpp_executor_wait_for_work(-1)
        .process(2)
        .at(1_290)
        .response(1)
        .at(1_330)
        .publish(2)
        .at(1_340)
        .rclcpp_executor_get_next_ready()
        .process(4)
        .at(1_400)
        .start_taking(2)
        .at(1_410)
        .end_taking()
}

#[test]
fn a_chain_runs_out_with_the_request_and_back_with_its_response() {
    let tables = tables(&driven());
    let whole: Vec<&str> = ROUND.iter().copied().chain(["/plan", "/wheels"]).collect();
    let (round, whole) = (chain(&tables, "camera to planner", &ROUND), chain(&tables, "camera to wheels", &whole));
    let of = |chain: u32| tables.instances.iter().position(|i| i.chain.number() == chain).expect("an instance");
    assert_eq!((tables.instances[of(round)].start_ns, tables.instances[of(round)].end_ns), (1_000, 1_330));
    let i = &tables.instances[of(whole)];
    assert_eq!((i.start_ns, i.end_ns), (1_000, 1_410));
    // 20 + 50 + 80 (to the response, though the callback ended before) + 40 + 10.
    assert_eq!(i.computation_ns, 200);
    assert_eq!(i.parts().whole_ns(), i.end_to_end_ns);
    let hops: Vec<_> = tables
        .hops
        .iter()
        .filter(|h| h.instance.number() == of(whole) as u32)
        .map(|h| (h.published_ns.get(), h.arrival_ns.get(), h.start_ns, h.output_ns))
        .collect();
    assert_eq!(
        hops,
        [
            (None, None, 1_000, 1_020),
            (Some(1_020), None, 1_100, 1_150),
            (Some(1_150), Some(1_180), 1_180, 1_260),
            (Some(1_260), Some(1_290), 1_290, 1_330),
            (Some(1_330), None, 1_400, 1_410),
        ]
    );
    let answer = tables.links.iter().find(|l| l.input == "/get_map request").expect("the link at the server");
    assert_eq!(
        (answer.output.as_deref(), answer.rule, answer.evidence, answer.confidence),
        (Some("/get_map response"), LinkRule::SameCallback, LinkEvidence::Observed, 1.0)
    );
}

#[test]
fn calls_are_in_no_other_table() {
    let tables = tables(&driven());
    assert!(tables.endpoints.iter().all(|e| !e.topic.contains("get_map")), "{:?}", tables.endpoints);
    assert_eq!((tables.publications.len(), tables.messages.len(), tables.services.len()), (2, 2, 1));
}

#[test]
fn the_response_is_handled_until_the_executor_goes_on() {
    let tables = tables(&driven());
    let row =
        tables.callbacks.iter().position(|c| c.topic.as_deref() == Some("/get_map response")).expect("its callback");
    let of: Vec<_> = tables
        .executions
        .iter()
        .filter(|e| e.callback == Row::behind(row))
        .map(|e| (e.start_ns, e.end_ns.get()))
        .collect();
    assert_eq!(of, [(1_290, Some(1_340))]);
}

#[test]
fn what_a_timer_publishes_does_not_follow_from_the_last_response() {
    let tables = tables(
        &system()
            .process(2)
            .timer(1_000)
            .process(1)
            .at(1_000)
            .start_timer()
            .at(1_020)
            .publish(1)
            .at(1_030)
            .end_timer()
            .process(2)
            .at(1_100)
            .start_taking(1)
            .at(1_150)
            .ask(1)
            .at(1_160)
            .end_taking()
            .at(1_170)
            .rclcpp_executor_wait_for_work(-1)
            .process(3)
            .at(1_180)
            .start_answering(1)
            .at(1_250)
            .callback_end(SERVICE_CALLBACK)
            .at(1_260)
            .answer(1)
            .process(2)
            .at(1_290)
            .response(1)
            .at(1_340)
            .rclcpp_executor_get_next_ready()
            .at(1_400)
            .start_timer()
            .at(1_410)
            .publish(2)
            .at(1_420)
            .end_timer()
            .process(4)
            .at(1_500)
            .start_taking(2)
            .at(1_510)
            .end_taking(),
    );
    let found = paths(&tables);
    assert!(found.contains(&("camera to planner", ROUND.to_vec())), "{found:?}");
    assert!(
        found.contains(&("camera to wheels", vec!["/camera", "/image", "/planner", "/plan", "/wheels"])),
        "{found:?}"
    );
    assert_eq!(found.len(), 2, "no plan is made of a response: {found:?}");
    assert!(tables.links.iter().all(|l| l.rule != LinkRule::Unrelated), "{:?}", tables.links);
}

#[test]
fn a_response_that_nobody_asked_for_by_this_path_goes_to_no_other_client() {
    let both = driven()
        .node(5, "other")
        .rmw_client_init(CLIENT + 1, [9, 9])
        .rcl_client_init(CLIENT, NODE, CLIENT + 1, "/get_map")
        .timer(5_000)
        .process(5)
        .at(2_000)
        .start_timer()
        .at(2_010)
        .ask(1)
        .at(2_020)
        .end_timer()
        .at(2_030)
        .rclcpp_executor_wait_for_work(-1)
        .process(3)
        .at(2_050)
        .rclcpp_executor_get_next_ready()
        .rmw_take_request(SERVICE + 1, 0x91, [9, 9], 1, true)
        .callback_start(SERVICE_CALLBACK, false)
        .at(2_100)
        .callback_end(SERVICE_CALLBACK)
        .rmw_send_response(SERVICE + 1, 0x92, [9, 9], 1, 0)
        .process(5)
        .at(2_150)
        .response(1)
        .at(2_160)
        .rclcpp_executor_wait_for_work(-1);
    let tables = tables(&both);
    let other =
        chain(&tables, "other to map and back", &["/other", "/get_map request", "/map", "/get_map response", "/other"]);
    assert!(
        paths(&tables).iter().all(|(_, path)| path[0] == "/other" || !path.contains(&"/other")),
        "{:?}",
        paths(&tables)
    );
    let of_other: Vec<_> =
        tables.instances.iter().filter(|i| i.chain.number() == other).map(|i| (i.start_ns, i.end_ns)).collect();
    assert_eq!(of_other, [(2_000, 2_160)]);
}

#[test]
fn a_request_that_was_taken_before_its_event_was_written_was_sent_by_then() {
    let early = FileBuilder::new()
        .node(2, "planner")
        .client()
        .timer(1_000)
        .node(3, "map")
        .service()
        .process(2)
        .at(1_100)
        .start_timer()
        .at(1_150)
        .ask(1)
        .at(1_160)
        .end_timer()
        .at(1_170)
        .rclcpp_executor_wait_for_work(-1)
        .process(3)
        .at(1_140)
        .start_answering(1)
        .at(1_250)
        .callback_end(SERVICE_CALLBACK)
        .at(1_260)
        .answer(1)
        .process(2)
        .at(1_290)
        .response(1)
        .at(1_340)
        .rclcpp_executor_get_next_ready();
    let tables = tables(&early);
    let round = chain(
        &tables,
        "planner to map and back",
        &["/planner", "/get_map request", "/map", "/get_map response", "/planner"],
    );
    let found: Vec<_> = tables
        .instances
        .iter()
        .filter(|i| i.chain.number() == round)
        .map(|i| (i.start_ns, i.end_ns, i.transport_ns >= 0))
        .collect();
    assert_eq!(found, [(1_100, 1_340, true)]);
}

#[test]
fn a_response_that_another_callback_sends_later_is_tied_to_its_request_by_its_number() {
    // Two requests are kept, and a timer answers both, the second one first.
    let kept = FileBuilder::new()
        .node(2, "planner")
        .client()
        .timer(1_000)
        .node(3, "map")
        .service()
        .timer(5_000)
        .process(2)
        .at(1_000)
        .start_timer()
        .at(1_010)
        .ask(1)
        .at(1_020)
        .ask(2)
        .at(1_030)
        .end_timer()
        .at(1_040)
        .rclcpp_executor_wait_for_work(-1)
        .process(3)
        .at(1_100)
        .start_answering(1)
        .at(1_120)
        .callback_end(SERVICE_CALLBACK)
        .at(1_130)
        .start_answering(2)
        .at(1_150)
        .callback_end(SERVICE_CALLBACK)
        .at(1_500)
        .start_timer()
        .at(1_510)
        .answer(2)
        .at(1_540)
        .answer(1)
        .at(1_560)
        .end_timer()
        .process(2)
        .at(1_600)
        .response(2)
        .at(1_620)
        .rclcpp_executor_get_next_ready()
        .at(1_630)
        .response(1)
        .at(1_660)
        .rclcpp_executor_get_next_ready();
    let tables = tables(&kept);
    let calls: Vec<_> = tables
        .services
        .iter()
        .map(|c| (c.sequence, c.request_ns, c.request_taken_ns, c.response_ns, c.response_taken_ns))
        .collect();
    assert_eq!(
        calls,
        [
            (1, Some(1_010), Some(1_100), Some(1_540), Some(1_630)),
            (2, Some(1_020), Some(1_130), Some(1_510), Some(1_600))
        ]
    );
    let round = chain(
        &tables,
        "planner to map and back",
        &["/planner", "/get_map request", "/map", "/get_map response", "/planner"],
    );
    let mut hops: Vec<_> = tables
        .instances
        .iter()
        .enumerate()
        .filter(|(_, i)| i.chain.number() == round)
        .map(|(row, i)| {
            let of_map =
                tables.hops.iter().find(|h| h.instance.number() == row as u32 && h.position == 1).expect("a hop");
            assert_eq!(i.parts().whole_ns(), i.end_to_end_ns);
            (of_map.published_ns.get(), of_map.start_ns, of_map.output_ns, i.end_ns)
        })
        .collect();
    hops.sort();
    // From the start of the callback that took the request to the response, whoever sent it.
    assert_eq!(hops, [(Some(1_010), 1_100, 1_540, 1_660), (Some(1_020), 1_130, 1_510, 1_620)]);
    let answer = tables.links.iter().find(|l| l.input == "/get_map request").expect("the link at the server");
    assert_eq!(
        (answer.rule, answer.evidence, answer.confidence, answer.followed),
        (LinkRule::SameCallback, LinkEvidence::Observed, 1.0, 2)
    );
}

#[test]
fn a_callback_that_answers_later_ends_where_its_executor_goes_on() {
    // rclcpp up to Jazzy: no end is reported. At the second start it is known that it is such a one.
    let later = |b: FileBuilder, at| {
        b.at(at).rclcpp_executor_get_next_ready().at(at + 1).callback_start(SERVICE_CALLBACK, false)
    };
    let tables = tables(
        &FileBuilder::new()
            .node(3, "map")
            .service()
            .timer(1_000)
            .with(|b| later(b, 10))
            .at(20)
            .rclcpp_executor_wait_for_work(-1)
            .with(|b| later(b, 30))
            .at(40)
            .rclcpp_executor_wait_for_work(-1)
            .with(|b| later(b, 50))
            .at(60)
            .rclcpp_executor_execute(TIMER)
            .at(61)
            .callback_start(TIMER_CALLBACK, false)
            .at(70)
            .callback_end(TIMER_CALLBACK),
    );
    let executions: Vec<_> = tables.executions.iter().map(|e| (e.start_ns, e.end_ns.get())).collect();
    assert_eq!(executions, [(11, Some(20)), (31, Some(40)), (51, Some(60)), (61, Some(70))]);
    let [thread] = &tables.executors[..] else { panic!("{:?}", tables.executors) };
    assert_eq!(thread.executing_ns, 9 + 9 + 9 + 9);
}
