use super::enumeration::words;

/// A rooted tree and the probabilities of its states: plain numbers. Node 0 is the root.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// `[node]`; none of a leaf.
    pub children: Vec<Vec<usize>>,
    /// `[state]`.
    pub root: Vec<f64>,
    /// `[child][from][to]`; a single matrix is every child's.
    pub transition: Vec<Vec<Vec<f64>>>,
    /// The number of children that a node in a state has, `[state]`.
    pub arity: Option<Vec<u16>>,
}

impl Tree {
    /// How many children each node of a subtree has, parents first, and its leaves in that order.
    ///
    /// # Panics
    /// If a node has more than 65 535 children.
    pub fn code(&self, root: usize) -> (Vec<u16>, Vec<usize>) {
        let (mut code, mut leaves, mut stack) = (vec![], vec![], vec![root]);
        while let Some(node) = stack.pop() {
            let children = &self.children[node];
            code.push(u16::try_from(children.len()).expect("fewer children"));
            if children.is_empty() {
                leaves.push(node);
            }
            stack.extend(children.iter().rev());
        }
        (code, leaves)
    }

    fn inner(&self) -> Vec<usize> {
        (0..self.children.len()).filter(|&v| !self.children[v].is_empty()).collect()
    }

    fn edge(&self, child: usize) -> &[Vec<f64>] {
        &self.transition[if self.transition.len() == 1 { 0 } else { child }]
    }

    fn fits(&self, state: usize, children: usize) -> bool {
        self.arity.as_ref().is_none_or(|arity| usize::from(arity[state]) == children)
    }

    /// `P(z, s)` of a labelling of all inner nodes, by enumeration's own product: root, inner edges
    /// and leaves, each once. `symbol[node]` is a leaf's; `None` where it is missing.
    fn joint(&self, label: &[usize], symbols: &[&[Option<usize>]], inside: &[bool]) -> f64 {
        let mut p = 1.0;
        for v in self.inner() {
            if !inside[v] {
                continue;
            }
            if v == 0 {
                p *= self.root[label[v]];
            }
            if !self.fits(label[v], self.children[v].len()) {
                return 0.0;
            }
            for (j, &c) in self.children[v].iter().enumerate() {
                if !self.children[c].is_empty() {
                    if inside[c] {
                        p *= self.edge(j)[label[v]][label[c]];
                    }
                    continue;
                }
                for symbols in symbols {
                    if let Some(symbol) = symbols[c] {
                        p *=
                            if self.fits(symbol, 0) { self.edge(j)[label[v]][symbol] } else { 0.0 };
                    }
                }
            }
        }
        p
    }

    /// The kernel from the definition: all labellings of the inner nodes. `s[node]`, `t[node]`.
    pub fn kernel(&self, s: &[Option<usize>], t: &[Option<usize>]) -> f64 {
        let inner = self.inner();
        let inside = vec![true; self.children.len()];
        words(self.root.len(), inner.len())
            .map(|word| self.joint(&self.label(&inner, &word), &[s, t], &inside))
            .sum()
    }

    fn label(&self, inner: &[usize], word: &[usize]) -> Vec<usize> {
        let mut label = vec![0; self.children.len()];
        for (&v, &state) in inner.iter().zip(word) {
            label[v] = state;
        }
        label
    }

    /// `P(s below v | v's parent in state a, v its j-th child)`, by enumeration below.
    fn below(&self, v: usize, j: usize, a: usize, s: &[Option<usize>]) -> f64 {
        (0..self.root.len())
            .filter(|&b| self.fits(b, self.children[v].len()))
            .map(|b| {
                let children = self.children[v].iter().enumerate();
                let product: f64 = children
                    .map(|(j, &c)| match (self.children[c].is_empty(), s[c]) {
                        (false, _) => self.below(c, j, b, s),
                        (true, None) => 1.0,
                        (true, Some(symbol)) if self.fits(symbol, 0) => self.edge(j)[b][symbol],
                        (true, Some(_)) => 0.0,
                    })
                    .product();
                self.edge(j)[a][b] * product
            })
            .sum()
    }

    /// The sum over prunings, and their number, from the definition: all sets of inner nodes with the
    /// root and, with each node, its parent.
    pub fn pruned(&self, s: &[Option<usize>], t: &[Option<usize>]) -> (f64, usize) {
        let inner = self.inner();
        let mut parent = vec![0; self.children.len()];
        for (v, children) in self.children.iter().enumerate() {
            for &c in children {
                parent[c] = v;
            }
        }
        let (mut sum, mut count) = (0.0, 0);
        for choice in words(2, inner.len()) {
            let mut inside = vec![false; self.children.len()];
            for (&v, &chosen) in inner.iter().zip(&choice) {
                inside[v] = chosen == 1;
            }
            if !inner
                .iter()
                .all(|&v| if v == 0 { inside[0] } else { !inside[v] || inside[parent[v]] })
            {
                continue;
            }
            count += 1;
            let kept: Vec<usize> = inner.iter().copied().filter(|&v| inside[v]).collect();
            for word in words(self.root.len(), kept.len()) {
                let label = self.label(&kept, &word);
                let mut p = self.joint(&label, &[s, t], &inside);
                for &v in &kept {
                    for (j, &c) in self.children[v].iter().enumerate() {
                        if !self.children[c].is_empty() && !inside[c] {
                            p *= self.below(c, j, label[v], s) * self.below(c, j, label[v], t);
                        }
                    }
                }
                sum += p;
            }
        }
        (sum, count)
    }
}
