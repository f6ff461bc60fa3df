//! Lists ordered by first appearance.

/// Returns each value once, in the order of first appearance.
pub fn each_once<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    by_key(values.into_iter().map(|value| (value, ())))
        .into_iter()
        .map(|(value, _)| value)
        .collect()
}

/// Returns the values grouped by key, in the order in which the keys first appear.
pub fn by_key<K: PartialEq, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut found: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in pairs {
        match found.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => found.push((key, vec![value])),
        }
    }
    found
}
