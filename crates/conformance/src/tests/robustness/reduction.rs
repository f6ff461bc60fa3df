//! The search for the fewest frames.

use crate::robustness::Reduction;

/// Returns the places that are left of `count`, and the number of attempts, where all of `needed` make it happen.
fn reduced(count: usize, needed: &[usize], attempts: usize) -> (Reduction, usize) {
    let mut reduction = Reduction::new(count, attempts);
    let mut made = 0;
    while let Some(places) = reduction.next_attempt() {
        assert!(places.is_sorted(), "frames keep their order");
        assert!(places.len() < count);
        made += 1;
        reduction.learn(needed.iter().all(|place| places.contains(place)));
    }
    (reduction, made)
}

#[test]
fn what_is_left_is_what_is_needed() {
    for needed in [&[5][..], &[0, 999], &[412, 413], &[3, 500, 501, 998]] {
        let (reduction, made) = reduced(1000, needed, usize::MAX);
        assert_eq!(reduction.smallest(), needed);
        assert!(reduction.is_minimal());
        assert!(made < 300, "{made} attempts for {needed:?}");
    }
}

#[test]
fn a_batch_of_frames_is_reduced_to_two_in_few_attempts() {
    let most = (0..32)
        .flat_map(|first| (first + 1..32).map(move |second| [first, second]))
        .map(|needed| {
            let (reduction, made) = reduced(32, &needed, usize::MAX);
            assert_eq!(reduction.smallest(), needed);
            made
        })
        .max();
    assert!(most < Some(80), "{most:?}");
}

#[test]
fn all_are_left_if_all_are_needed_and_one_alone_is_minimal() {
    let all: Vec<usize> = (0..9).collect();
    assert_eq!(reduced(9, &all, usize::MAX).0.smallest(), all);
    let (one, made) = reduced(1, &[0], usize::MAX);
    assert_eq!((one.smallest(), made), (&[0][..], 0));
}

#[test]
fn the_attempts_are_bounded_and_what_is_left_then_still_makes_it() {
    let (reduction, made) = reduced(1000, &[0, 999], 7);
    assert_eq!(made, 7);
    assert!(!reduction.is_minimal());
    let left = reduction.smallest();
    assert!(left.contains(&0) && left.contains(&999) && left.len() > 2);
}
