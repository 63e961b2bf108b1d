use crate::emission::{VectorSpace, vector_space};

/// Expected sufficient statistics of a hidden Markov model, given a stream.
///
/// ```text
/// initial[i]        = E[ 1{z_1 = i} | x ]
/// transition[i][j]  = E[ sum_u 1{z_u = i, z_u+1 = j} | x ]
/// emission[i]       = E[ sum_u 1{z_u = i} s(x_u) | x ]      over the samples that were observed
/// ```
///
/// All that Baum-Welch needs and all that the Fisher score needs (Fisher's identity). A
/// [`VectorSpace`] of `N + N^2` reals and `N` emissions' statistics.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ExpectedStatistics<S, T, const N: usize> {
    /// Expected first state, `[state]`.
    pub initial: [T; N],
    /// Expected numbers of transitions, `[from][to]`.
    pub transition: [[T; N]; N],
    /// Expected statistics of the observations each state has made, `[state]`.
    pub emission: [S; N],
}

vector_space! {
    impl<T, S: VectorSpace<T>; const N> ExpectedStatistics<S, T, N> {
        initial: [T; N],
        transition: [[T; N]; N],
        emission: [S; N]
    }
}
