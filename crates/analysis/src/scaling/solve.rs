//! Linear least squares with at most three unknowns.

/// Returns the three unknowns for which row · unknowns is closest to the targets; those that are not `free` are 0. Returns `None` if the rows do not
/// determine them.
pub(super) fn least_squares(
    free: &[usize],
    rows: impl Iterator<Item = ([f64; 3], f64)>,
) -> Option<[f64; 3]> {
    let mut equations = Equations {
        matrix: [[0.0; 3]; 3],
        right: [0.0; 3],
    };
    for (row, target) in rows {
        for (i, &of) in free.iter().enumerate() {
            equations.right[i] += row[of] * target;
            for (j, &by) in free.iter().enumerate() {
                equations.matrix[i][j] += row[of] * row[by];
            }
        }
    }
    let scales = scales(&equations.matrix);
    let solved = equations.scaled(free.len(), scales).solve(free.len())?;
    let mut unknowns = [0.0; 3];
    for ((&of, value), scale) in free.iter().zip(solved).zip(scales) {
        unknowns[of] = value * scale;
    }
    Some(unknowns)
}

/// Up to three equations: matrix times unknowns is the right side.
struct Equations {
    matrix: [[f64; 3]; 3],
    right: [f64; 3],
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

impl Equations {
    /// Returns the first `n` equations for columns of length 1.
    fn scaled(mut self, n: usize, scales: [f64; 3]) -> Self {
        for i in 0..n {
            self.right[i] *= scales[i];
            for j in 0..n {
                self.matrix[i][j] *= scales[i] * scales[j];
            }
        }
        self
    }

    /// Solves the first `n` equations by Gaussian elimination with partial pivoting.
    fn solve(mut self, n: usize) -> Option<[f64; 3]> {
        /// A smaller pivot means that columns of length 1 are linearly dependent.
        const SINGULAR: f64 = 1e-13;
        let matrix = &mut self.matrix;
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
            self.right.swap(column, pivot);
            for below in column + 1..n {
                let factor = matrix[below][column] / matrix[column][column];
                let (above, under) = matrix.split_at_mut(below);
                let pivot_row = &above[column][column..n];
                for (value, pivot_value) in under[0][column..n].iter_mut().zip(pivot_row) {
                    *value -= factor * pivot_value;
                }
                self.right[below] -= factor * self.right[column];
            }
        }
        let mut solved = [0.0; 3];
        for row in (0..n).rev() {
            let known: f64 = (row + 1..n).map(|j| matrix[row][j] * solved[j]).sum();
            solved[row] = (self.right[row] - known) / matrix[row][row];
        }
        Some(solved)
    }
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
