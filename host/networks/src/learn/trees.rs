//! Graphs by mutual information: trees, and classifiers.

use super::super::{NetworkError, Shape};
use super::columns::Columns;
use crate::records::{Records, Variable};

/// The tree of the largest likelihood: the maximum spanning tree of the mutual information of columns,
/// its edges leading away from the first column by name.
///
/// Work: a count of each pair. Source: Chow and Liu, "Approximating discrete probability distributions
/// with dependence trees", 1968.
///
/// # Errors
/// [`NetworkError`]: invalid variables, records that do not fit or have missing fields.
pub fn chow_liu(
    variables: &[Variable],
    records: &Records,
) -> Result<Vec<Vec<usize>>, NetworkError> {
    let columns = Columns::of(variables, records)?;
    let all: Vec<usize> = (0..columns.len()).collect();
    Ok(columns.restore(spanning_tree(&all, &columns.information(variables, &[])?, columns.len())))
}

/// Naive Bayes: the class is every other column's parent.
///
/// # Errors
/// [`NetworkError::UnknownNode`]: no such class.
pub fn naive_bayes(variables: &[Variable], class: usize) -> Result<Vec<Vec<usize>>, NetworkError> {
    check_class(variables.len(), class)?;
    let parents = |column| if column == class { vec![] } else { vec![class] };
    Ok((0..variables.len()).map(parents).collect())
}

/// Naive Bayes with a tree among the attributes: the maximum spanning tree of their mutual information
/// given the class, away from the first by name. The class is each attribute's first parent.
///
/// Source: Friedman, Geiger and Goldszmidt, "Bayesian network classifiers", 1997.
///
/// # Errors
/// As [`chow_liu`], and no such class.
pub fn tree_augmented(
    variables: &[Variable],
    records: &Records,
    class: usize,
) -> Result<Vec<Vec<usize>>, NetworkError> {
    check_class(variables.len(), class)?;
    let columns = Columns::of(variables, records)?;
    let class = columns.place(class).unwrap_or(class);
    let attributes: Vec<usize> = (0..columns.len()).filter(|&column| column != class).collect();
    let tree =
        spanning_tree(&attributes, &columns.information(variables, &[class])?, columns.len());
    Ok(columns.restore(below(class, tree)))
}

/// Naive Bayes with up to `k` attributes for parents of each: attributes come in the order of their
/// information on the class, and each takes of those before it the ones with the most information on it
/// given the class.
///
/// Source: Sahami, "Learning limited dependence Bayesian classifiers", 1996.
///
/// # Errors
/// As [`chow_liu`]; no such class; more parents than a table has room for.
pub fn k_dependence(
    variables: &[Variable],
    records: &Records,
    class: usize,
    k: usize,
) -> Result<Vec<Vec<usize>>, NetworkError> {
    check_class(variables.len(), class)?;
    let columns = Columns::of(variables, records)?;
    let class = columns.place(class).unwrap_or(class);
    let alone = columns.information(variables, &[])?;
    let given = columns.information(variables, &[class])?;
    let mut order: Vec<usize> = (0..columns.len()).filter(|&column| column != class).collect();
    order.sort_by(|&a, &b| alone[b][class].total_cmp(&alone[a][class]));
    let mut parents = vec![Vec::new(); columns.len()];
    for (turn, &column) in order.iter().enumerate() {
        let mut before = order[..turn].to_vec();
        before.sort_by(|&a, &b| given[column][b].total_cmp(&given[column][a]).then(a.cmp(&b)));
        before.truncate(k);
        before.sort_unstable();
        parents[column] = before;
    }
    let parents = columns.restore(below(class, parents));
    Shape::new(variables, parents.clone())?;
    Ok(parents)
}

fn check_class(columns: usize, class: usize) -> Result<(), NetworkError> {
    if class < columns {
        return Ok(());
    }
    Err(NetworkError::UnknownNode(format!("number {class}")))
}

/// The class as the first parent of every other column.
fn below(class: usize, mut parents: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    for (column, of_column) in parents.iter_mut().enumerate() {
        if column != class {
            of_column.insert(0, class);
        }
    }
    parents
}

/// The maximum spanning tree of some columns by Prim's algorithm from the first; of equal edges the one
/// to the column that comes first.
fn spanning_tree(among: &[usize], weight: &[Vec<f64>], columns: usize) -> Vec<Vec<usize>> {
    let mut parents = vec![Vec::new(); columns];
    let Some((&root, rest)) = among.split_first() else { return parents };
    // What is not in the tree yet, with the edge to it.
    let mut outside: Vec<(usize, usize)> = rest.iter().map(|&column| (column, root)).collect();
    while !outside.is_empty() {
        let mut best = 0;
        for place in 1..outside.len() {
            let of = |(column, from): (usize, usize)| weight[from][column];
            if of(outside[place]) > of(outside[best]) {
                best = place;
            }
        }
        let (column, from) = outside.remove(best);
        parents[column].push(from);
        for (other, nearest) in &mut outside {
            if weight[column][*other] > weight[*nearest][*other] {
                *nearest = column;
            }
        }
    }
    parents
}
