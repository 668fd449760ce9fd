//! Fair shares: each of several alternatives that are always ready is taken about equally often,
//! also one that has stages.
//!
//! For 8,000 draws at a probability of 1/4 the standard deviation is 39. The bound is 400, more
//! than ten standard deviations. Chance exceeds it less than once in 10^23 runs.

use crate::support::{Cx, worlds};
use lisle::channel::bounded;
use lisle::event::{BoxEvent, WaitSet, choose_all, choose_biased};
use lisle::{Event, always, choose};

worlds!(an_event_in_stages_has_its_share, in_a_biased_choice_the_first_goes_first, in_a_wait_set);

const DRAWS: usize = 8_000;
const BOUND: usize = 400;

fn in_stages<'a>(stages: usize, value: usize) -> BoxEvent<'a, usize> {
    match stages {
        1 => always(value).boxed(),
        _ => always(()).replace(move |()| in_stages(stages - 1, value)).boxed(),
    }
}

fn all_of_two<'a>(value: usize) -> BoxEvent<'a, usize> {
    choose_all((always(value), always(()))).wrap(|(value, ())| value).boxed()
}

async fn an_event_in_stages_has_its_share(cx: Cx) {
    let (tx, rx) = bounded::<usize>(1);
    for kind in 0..4 {
        let mut taken = [0_usize; 4];
        for i in 0..DRAWS {
            // One alternative belongs to a channel, so not all are always ready by themselves.
            let _ = tx.try_send(0);
            let special = || match kind {
                0 => in_stages(2, 3),
                1 => in_stages(5, 3),
                2 => all_of_two(3),
                _ => choose(vec![in_stages(2, 3)]).boxed(),
            };
            let message = rx.recv_evt().wrap(|got| got.unwrap());
            let value = if i % 2 == 0 {
                let event = choose(vec![message.boxed(), in_stages(1, 1), in_stages(1, 2), special()]);
                cx.sync(event).await
            } else {
                let event = choose((special(), always(2), message, in_stages(2, 1)));
                event.poll().expect("all are ready")
            };
            taken[value] += 1;
        }
        let share = DRAWS / 4;
        assert!(taken.iter().all(|taken| taken.abs_diff(share) < BOUND), "{taken:?} in the case {kind}");
    }
}

async fn in_a_biased_choice_the_first_goes_first(cx: Cx) {
    let (tx, rx) = bounded::<usize>(1);
    // The first stage of the second alternative makes the first one ready.
    let staged = always(()).replace(|()| {
        tx.try_send(1).unwrap();
        always(2)
    });
    let event = choose_biased((rx.recv_evt().wrap(Result::unwrap), staged));
    assert_eq!(cx.sync(&event).await, 1);
    assert_eq!(event.poll(), Some(1));
}

async fn in_a_wait_set(cx: Cx) {
    let mut set = WaitSet::new();
    for source in 0..4 {
        set.insert(in_stages(source + 1, source));
    }
    let mut taken = [0_usize; 4];
    for _ in 0..100 {
        taken[cx.sync(set.evt()).await.1] += 1;
    }
    assert_eq!(taken, [25; 4], "one after the other");
}
