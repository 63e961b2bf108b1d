/// Every record of a Bayesian network with its probability, by the definition.
#[derive(Clone, Debug)]
pub struct Joint {
    /// The records, the last node's state varying fastest.
    pub records: Vec<Vec<u16>>,
    /// Their probabilities.
    pub probabilities: Vec<f64>,
}

impl Joint {
    /// The network with tables `[node][row][state]`, rows numbered with the last parent varying fastest.
    ///
    /// # Panics
    /// If tables and parents do not fit.
    pub fn of(cards: &[usize], parents: &[Vec<usize>], tables: &[Vec<Vec<f64>>]) -> Self {
        let mut records = vec![Vec::new()];
        for &card in cards {
            let with = |record: &Vec<u16>, state: usize| {
                let mut longer = record.clone();
                longer.push(state as u16);
                longer
            };
            records = records
                .iter()
                .flat_map(|record| (0..card).map(move |state| with(record, state)))
                .collect();
        }
        let probability = |record: &Vec<u16>| {
            let of_node = |node: usize| {
                let row = parents[node]
                    .iter()
                    .fold(0, |row, &parent| row * cards[parent] + usize::from(record[parent]));
                tables[node][row][usize::from(record[node])]
            };
            (0..cards.len()).map(of_node).product()
        };
        let probabilities = records.iter().map(probability).collect();
        Self { records, probabilities }
    }

    /// The sum of a function over all records, each by its probability.
    pub fn sum(&self, of: impl Fn(&[u16]) -> f64) -> f64 {
        self.records.iter().zip(&self.probabilities).map(|(record, p)| p * of(record)).sum()
    }

    /// Only what agrees with some states, `u16::MAX` where there is none; not divided by its sum.
    pub fn given(&self, states: &[u16]) -> Self {
        let agrees = |record: &[u16]| {
            record.iter().zip(states).all(|(own, &wanted)| wanted == u16::MAX || *own == wanted)
        };
        let mut given = self.clone();
        for (record, p) in given.records.iter().zip(&mut given.probabilities) {
            if !agrees(record) {
                *p = 0.0;
            }
        }
        given
    }
}
