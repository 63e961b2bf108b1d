//! The host's run of kernels over hidden models, with the device's arithmetic and its bits.

use fishweir_core::ObservationError;
use fishweir_core::classify::{ScoreOutOfRange, normalise_logs};
use fishweir_core::filter::Streaming;
use fishweir_core::hmm::Chain;
use fishweir_core::kernel::{
    Branch, HiddenBinomial, HiddenBinomialNorm, KernelError, LeafQueue, LogKernel, OpenNode,
    PairHmm, PairKernel, PairNorm, PairTable, PruningMessage, Scaled, TreeKernel, TreeMessage,
    TreeMessages, TreeNorm, TreeShape, TreeTransition,
};
use std::marker::PhantomData;

use super::{Binomial, Hidden, Law, Pair, Tree};
use crate::deploy::block::Observation;
use crate::deploy::error::PushError;
use crate::deploy::kernel_stream::KernelStream;
use crate::deploy::machine::Norms;
use crate::kernel::marginal::Heap;
use crate::runtime::{LARGEST_ALPHABET, padded, padded_rows, with_two_sizes};

impl Hidden {
    pub(in crate::deploy::machine) fn stream(
        &self,
        symbols: usize,
    ) -> Box<dyn KernelStream<f32> + Send> {
        let length = self.stored.first().map_or(0, Vec::len);
        match &self.law {
            Law::Binomial(law) => Box::new(Run::of(BinomialLaw::of(law, length), self, symbols)),
            Law::Pair(law) => with_two_sizes!(law.initial.len(), N => {
                Box::new(Run::of(PairLaw::<N>::of(law), self, symbols))
            }),
            Law::Tree(law) => with_two_sizes!(law.root.len(), P => if law.pruned {
                Box::new(Run::of(TreeLaw::<PruningMessage<f32, P>, P>::of(law), self, symbols))
            } else {
                Box::new(Run::of(TreeLaw::<Scaled<f32, P>, P>::of(law), self, symbols))
            }),
        }
    }
}

/// A hidden model at a compiled size, with the core's recursions over it.
trait HiddenLaw: Send {
    type State: Clone + Send;
    type Own: Clone + Send;
    type Kernel<'m>: LogKernel<Observation = usize, State = Self::State>
    where
        Self: 'm;
    type Norm<'m>: LogKernel<Observation = usize, State = Self::Own, Parts = [f32; 2]>
    where
        Self: 'm;

    fn against<'m>(&'m self, stored: &'m [u16]) -> Self::Kernel<'m>;
    fn norm(&self) -> Self::Norm<'_>;
    fn parts(parts: &<Self::Kernel<'_> as LogKernel>::Parts) -> [f32; 2];
}

struct Run<L: HiddenLaw> {
    law: L,
    symbols: usize,
    stored: Vec<Vec<u16>>,
    norms: Norms,
    states: Vec<L::State>,
    own: Option<L::Own>,
    /// Symbols that have come, and at most come.
    come: usize,
    room: usize,
    /// The leaf of each position, where a tree's leaves are in another order.
    places: Vec<u16>,
    queue: LeafQueue<Heap<u16>>,
}

impl<L: HiddenLaw> Run<L> {
    fn of(law: L, kernel: &Hidden, symbols: usize) -> Self {
        let places = match &kernel.law {
            Law::Tree(tree) if !tree.in_order() => tree.places.clone(),
            _ => Vec::new(),
        };
        let bounded = kernel.norms.normalised && matches!(kernel.law, Law::Pair(_));
        let room = if bounded { kernel.room } else { usize::MAX };
        let mut run = Self {
            law,
            symbols,
            stored: kernel.stored.clone(),
            norms: kernel.norms.clone(),
            states: Vec::new(),
            own: None,
            come: 0,
            room,
            queue: LeafQueue::new(places.len()),
            places,
        };
        run.reset();
        run
    }

    /// Passes a symbol to all kernels; none of them changes where one is refused.
    fn step(&mut self, x: Option<usize>) -> Result<(), ObservationError> {
        if self.come >= self.room {
            return Err(ObservationError::PastEnd);
        }
        let mut own = self.own.clone();
        if let Some(own) = &mut own {
            push(&self.law.norm(), own, x)?;
        }
        for (state, item) in self.states.iter_mut().zip(&self.stored) {
            // All refuse the same symbols.
            push(&self.law.against(item), state, x)?;
        }
        self.own = own;
        self.come += 1;
        Ok(())
    }

    fn take(&mut self, x: Option<usize>) -> Result<(), ObservationError> {
        if self.places.is_empty() {
            return self.step(x);
        }
        if !self.queue.push(&self.places, x) {
            return Err(ObservationError::PastEnd);
        }
        while let Some(leaf) = self.queue.pop() {
            self.step(leaf)?;
        }
        Ok(())
    }
}

fn push<R: Streaming<Observation = usize>>(
    recursion: &R,
    state: &mut R::State,
    x: Option<usize>,
) -> Result<(), ObservationError> {
    match x {
        Some(x) => recursion.step(state, &x),
        None => {
            recursion.step_missing(state);
            Ok(())
        }
    }
}

impl<L: HiddenLaw> KernelStream<f32> for Run<L> {
    fn push(&mut self, x: &Observation<'_, f32>) -> Result<(), PushError> {
        let Observation::Symbol(symbol) = *x else { return Err(PushError::Kind) };
        if self.come >= self.room {
            return Err(ObservationError::PastEnd.into());
        }
        // The alphabet is padded.
        if usize::from(symbol) >= self.symbols {
            return Err(ObservationError::UnknownSymbol.into());
        }
        Ok(self.take(Some(usize::from(symbol)))?)
    }

    fn push_missing(&mut self) {
        // Past the end a missing symbol changes nothing.
        let _ = self.take(None);
    }

    fn reset(&mut self) {
        self.own = self.norms.normalised.then(|| self.law.norm().initial_state());
        let stored = self.stored.iter();
        self.states = stored.map(|item| self.law.against(item).initial_state()).collect();
        (self.come, self.queue) = (0, LeafQueue::new(self.places.len()));
    }

    fn kernels(&self, _: u64) -> Result<(Vec<f32>, f32), ScoreOutOfRange> {
        let items = self.stored.iter().zip(&self.states);
        let mut logs: Vec<[f32; 2]> =
            items.map(|(item, state)| L::parts(&self.law.against(item).log_parts(state))).collect();
        let own = self.own.as_ref().map_or([0.0; 2], |own| self.law.norm().log_parts(own));
        let mut values = vec![0.0; logs.len()];
        let log_scale = normalise_logs(&mut logs, &self.norms.log, own, &mut values);
        Ok((values, log_scale))
    }
}

type Table = PairTable<f32, LARGEST_ALPHABET>;

struct BinomialLaw {
    tables: Vec<Table>,
    shared: bool,
    length: usize,
}

impl BinomialLaw {
    fn of(law: &Binomial, length: usize) -> Self {
        let tables = law.tables.iter().map(|table| Table::from_parts(padded_rows(table)));
        Self { tables: tables.collect(), shared: law.shared, length }
    }
}

impl HiddenLaw for BinomialLaw {
    type State = fishweir_core::kernel::Aligned<f32, 1, 1>;
    type Own = Self::State;
    type Kernel<'m> = HiddenBinomial<'m, Table, u16, 1>;
    type Norm<'m> = HiddenBinomialNorm<'m, Table>;

    fn against<'m>(&'m self, stored: &'m [u16]) -> Self::Kernel<'m> {
        HiddenBinomial::from_parts(&self.tables, self.shared, [stored])
    }
    fn norm(&self) -> Self::Norm<'_> {
        HiddenBinomialNorm::of(&self.tables, self.shared, self.length)
    }
    fn parts([parts]: &[[f32; 2]; 1]) -> [f32; 2] {
        *parts
    }
}

struct PairLaw<const N: usize>(Box<PairHmm<f32, N, LARGEST_ALPHABET>>);

impl<const N: usize> PairLaw<N> {
    fn of(law: &Pair) -> Self {
        let chain = Chain::from_parts(padded(&law.initial), padded_rows(&law.transition));
        let (emission, empty) = (padded_rows(&law.emission), padded(&law.empty));
        let end = padded(&law.end);
        Self(Box::new(PairHmm::from_parts(chain, emission, empty, law.initial_end, end)))
    }
}

type Columns<const N: usize> = Heap<Scaled<f32, N>>;

impl<const N: usize> HiddenLaw for PairLaw<N> {
    type State = fishweir_core::kernel::Column<f32, Columns<N>, N>;
    type Own = fishweir_core::kernel::PairNormState<Scaled<f32, N>, Columns<N>, Heap<u16>>;
    type Kernel<'m> = PairKernel<'m, PairHmm<f32, N, LARGEST_ALPHABET>, u16, Columns<N>>;
    type Norm<'m> = PairNorm<'m, PairHmm<f32, N, LARGEST_ALPHABET>, Columns<N>, Heap<u16>>;

    fn against<'m>(&'m self, stored: &'m [u16]) -> Self::Kernel<'m> {
        PairKernel::from_parts(&self.0, stored)
    }
    fn norm(&self) -> Self::Norm<'_> {
        PairNorm::of(&self.0)
    }
    fn parts(parts: &[f32; 2]) -> [f32; 2] {
        *parts
    }
}

/// Transition probabilities of branches, on the heap.
struct Branches<const P: usize> {
    root: [f32; P],
    transition: Vec<[[f32; P]; P]>,
    matrix: Vec<u16>,
    arity: Option<[u16; P]>,
}

impl<const P: usize> TreeMessages for Branches<P> {
    type Sum = Scaled<f32, P>;
    type Pruned = PruningMessage<f32, P>;
}

impl<const P: usize> TreeTransition<f32, P> for Branches<P> {
    fn root(&self) -> &[f32; P] {
        &self.root
    }
    fn arity(&self) -> Option<&[u16; P]> {
        self.arity.as_ref()
    }
    fn branch(&self, branch: Branch) -> Option<&[[f32; P]; P]> {
        self.transition.get(usize::from(*self.matrix.get(branch.node)?))
    }
    // The model was checked before it was rounded.
    fn check(&self, _: TreeShape<'_>) -> Result<(), KernelError> {
        Ok(())
    }
    fn validate(&self) -> Result<(), fishweir_core::ModelError> {
        Ok(())
    }
}

struct TreeLaw<V, const P: usize> {
    branches: Branches<P>,
    children: Vec<u16>,
    leaves: usize,
    message: PhantomData<fn() -> V>,
}

impl<V, const P: usize> TreeLaw<V, P> {
    fn of(law: &Tree) -> Self {
        let arity = law.arity.as_ref().map(|arity| {
            // A padded state has no fitting number of children.
            let mut all = [u16::MAX; P];
            all[..arity.len()].copy_from_slice(arity);
            all
        });
        let branches = Branches {
            root: padded(&law.root),
            transition: law.transition.iter().map(|matrix| padded_rows(matrix)).collect(),
            matrix: law.matrix.clone(),
            arity,
        };
        let (children, leaves) = (law.children.clone(), law.places.len());
        Self { branches, children, leaves, message: PhantomData }
    }

    fn shape(&self) -> TreeShape<'_> {
        TreeShape::from_parts(&self.children, self.leaves)
    }
}

impl<V, const P: usize> HiddenLaw for TreeLaw<V, P>
where
    V: TreeMessage<f32, P> + Send,
{
    type State = fishweir_core::kernel::Traversal<V, Heap<OpenNode<V>>>;
    type Own = Self::State;
    type Kernel<'m>
        = TreeKernel<'m, Branches<P>, u16, Heap<OpenNode<V>>>
    where
        V: 'm;
    type Norm<'m>
        = TreeNorm<'m, Branches<P>, Heap<OpenNode<V>>>
    where
        V: 'm;

    fn against<'m>(&'m self, stored: &'m [u16]) -> Self::Kernel<'m> {
        TreeKernel::from_parts(&self.branches, self.shape(), stored)
    }
    fn norm(&self) -> Self::Norm<'_> {
        TreeNorm::of(&self.branches, self.shape())
    }
    fn parts(parts: &[f32; 2]) -> [f32; 2] {
        *parts
    }
}
