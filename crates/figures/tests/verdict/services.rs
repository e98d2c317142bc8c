//! Callbacks that wait for the response of a service.

use super::*;

const CLIENT: u64 = 0x60;
const SERVICE: u64 = 0x70;
const SERVICE_CALLBACK: u64 = 0x71;
const GID: [u64; 2] = [7, 8];
const MAP: u32 = 4;

/// The planner asks for the map in each of its callbacks. Each twentieth answer takes 80 ms, the others 2 ms.
fn asking() -> FileBuilder {
    let mut b = FileBuilder::new()
        .node(SENSOR, "sensor")
        .publisher("/points")
        .timer(100 * MS)
        .node(PLANNER, "planner")
        .subscription("/points")
        .publisher("/plan")
        .rmw_client_init(CLIENT + 1, GID)
        .rcl_client_init(CLIENT, NODE, CLIENT + 1, "/get_map")
        .node(MAP, "map")
        .rcl_service_init(SERVICE, NODE, SERVICE + 1, "/get_map")
        .rclcpp_service_callback_added(SERVICE, SERVICE_CALLBACK)
        .node(CONTROL, "control")
        .subscription("/plan");
    for k in 0..100 {
        let at = (1_000 + 100 * k) * MS;
        let sent = at + MS;
        let answered = sent + if k % 20 == 7 { 80 * MS } else { 2 * MS };
        b = b.process(SENSOR).at(at).start_timer().at(at + US).publish(at).end_timer();
        b = b.process(PLANNER).at(at + 200 * US).start_taking(at).at(sent).rmw_send_request(CLIENT + 1, 0x90, k);
        b = b.process(MAP).at(sent + 10 * US).rmw_take_request(SERVICE + 1, 0x91, GID, k, true);
        b = b.callback_start(SERVICE_CALLBACK, false).at(answered).rmw_send_response(SERVICE + 1, 0x92, GID, k, 0);
        // Another thread of the planner takes it, as in rclpy.
        b = b.callback_end(SERVICE_CALLBACK).process(PLANNER).thread(99).at(answered + 10 * US);
        b = b.rmw_take_response(CLIENT + 1, 0x93, k, 0, true);
        b = b.thread(PLANNER).at(answered + MS).publish(-at).at(answered + MS + US).end_taking();
        b = b.process(CONTROL).at(answered + 2 * MS).start_taking(-at).at(answered + 3 * MS).end_taking();
    }
    b
}

#[test]
fn a_callback_that_waits_for_a_service_names_the_one_that_answers() {
    let verdict = verdict(&scene::tables(&asking()), 0.0);
    let named = |culprit: &&Culprit| culprit.callback.as_deref() == Some("/planner /points Listener::take");
    let culprit = verdict.culprits.iter().find(named).unwrap_or_else(|| panic!("{verdict:#?}"));
    let because = "(waiting for the response of the service /get_map, for which ";
    assert!(culprit.text.contains(because), "{}", culprit.text);
    assert!(culprit.text.contains(" of /map took up to 80.0 ms)"), "{}", culprit.text);
    assert!(
        culprit
            .next
            .ends_with("call /get_map without waiting (rclpy call_async, rclcpp async_send_request with a callback)."),
        "{}",
        culprit.next
    );
}
