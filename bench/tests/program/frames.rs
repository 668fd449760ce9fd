//! The frames come to the same result on every system.

use super::loops::measure;

const ELSEWHERE: [&str; 3] = ["go", "onetbb", "onetbb-affinity"];

#[test]
#[ignore = "takes long: --ignored"]
fn every_system_makes_the_calls_of_a_frame() {
    let workloads: [(&str, &[&str]); 2] = [
        (
            "dew",
            &[
                "bevy-tasks",
                "lisle",
                "lisle-batches",
                "lisle-domains",
                "lisle-loop",
                "rayon",
                "serial",
                "tokio-mt",
            ],
        ),
        ("dew-locality", &["lisle", "lisle-chain", "lisle-homed", "lisle-loop", "rayon", "serial"]),
    ];
    measure(&workloads, &[1, 2], &ELSEWHERE);
}

#[test]
#[ignore = "takes long: --ignored"]
fn every_system_has_the_values_of_plain_structs() {
    measure(&[("streams", &["bevy-ecs", "lisle", "serial", "tokio-ct"])], &[1], &ELSEWHERE);
}

#[test]
#[ignore = "takes long: --ignored"]
fn every_system_goes_back_to_the_same() {
    measure(&[("rollback", &["bevy-ecs", "lisle", "serial"])], &[1], &ELSEWHERE);
}

#[test]
#[ignore = "takes long: --ignored"]
fn every_system_moves_the_birds_alike() {
    let systems = ["bevy-ecs", "lisle", "lisle-chunks", "lisle-loop", "rayon", "serial"];
    measure(&[("flock", &systems)], &[1, 2], &ELSEWHERE);
}

#[test]
#[ignore = "takes long: --ignored"]
fn frames_keep_to_the_clock_beside_a_server() {
    measure(&[("frame-latency", &["lisle-domains"])], &[1, 2], &ELSEWHERE);
}
