//! Linear least squares with at most three unknowns.

/// Returns the three unknowns for which row · unknowns is closest to the targets; those that are not `free` are 0. Returns `None` if the rows do not
/// determine them.
pub(super) fn least_squares(
    free: &[usize],
    rows: impl Iterator<Item = ([f64; 3], f64)>,
) -> Option<[f64; 3]> {
    let (mut matrix, mut right) = ([[0.0; 3]; 3], [0.0; 3]);
    for (row, target) in rows {
        for (i, &of) in free.iter().enumerate() {
            right[i] += row[of] * target;
            free.iter()
                .enumerate()
                .for_each(|(j, &by)| matrix[i][j] += row[of] * row[by]);
        }
    }
    let solved = solve(free.len(), scaled(free.len(), matrix, &mut right))?;
    let mut unknowns = [0.0; 3];
    free.iter()
        .zip(solved.iter().zip(&scales(&matrix)))
        .for_each(|(&of, (value, scale))| unknowns[of] = value * scale);
    Some(unknowns)
}

/// Returns the reciprocal length of each column, because n (n - 1) is in the hundreds while other coefficients are 1.
fn scales(matrix: &[[f64; 3]; 3]) -> [f64; 3] {
    [0, 1, 2].map(|i| {
        if matrix[i][i] > 0.0 {
            matrix[i][i].sqrt().recip()
        } else {
            1.0
        }
    })
}

/// Returns the same equations for columns of length 1.
fn scaled(n: usize, mut matrix: [[f64; 3]; 3], right: &mut [f64; 3]) -> ([[f64; 3]; 3], [f64; 3]) {
    let scales = scales(&matrix);
    for i in 0..n {
        right[i] *= scales[i];
        (0..n).for_each(|j| matrix[i][j] *= scales[i] * scales[j]);
    }
    (matrix, *right)
}

/// Solves the equations by Gaussian elimination with partial pivoting.
fn solve(n: usize, (mut matrix, mut right): ([[f64; 3]; 3], [f64; 3])) -> Option<[f64; 3]> {
    /// A smaller pivot means that columns of length 1 are linearly dependent.
    const SINGULAR: f64 = 1e-13;
    for column in 0..n {
        let pivot = (column..n).max_by(|a, b| {
            matrix[*a][column]
                .abs()
                .total_cmp(&matrix[*b][column].abs())
        })?;
        if matrix[pivot][column].abs() < SINGULAR {
            return None;
        }
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        for below in column + 1..n {
            let factor = matrix[below][column] / matrix[column][column];
            (column..n).for_each(|j| matrix[below][j] -= factor * matrix[column][j]);
            right[below] -= factor * right[column];
        }
    }
    let mut solved = [0.0; 3];
    for row in (0..n).rev() {
        let known: f64 = (row + 1..n).map(|j| matrix[row][j] * solved[j]).sum();
        solved[row] = (right[row] - known) / matrix[row][row];
    }
    Some(solved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_line_is_found_and_what_is_not_free_stays_zero() {
        let rows = || {
            [1.0, 2.0, 5.0]
                .map(|x| ([1.0, x, x * x], 3.0 - 2.0 * x))
                .into_iter()
        };
        let found = least_squares(&[0, 1], rows()).expect("a line");
        assert!(
            (found[0] - 3.0).abs() < 1e-9 && (found[1] + 2.0).abs() < 1e-9 && found[2] == 0.0,
            "{found:?}"
        );
        let parabola = least_squares(&[0, 1, 2], rows()).expect("a parabola");
        assert!(parabola[2].abs() < 1e-9, "{parabola:?}");
    }

    #[test]
    fn two_points_determine_no_parabola() {
        let rows = [1.0, 2.0].map(|x| ([1.0, x, x * x], x)).into_iter();
        assert_eq!(least_squares(&[0, 1, 2], rows), None);
    }
}
