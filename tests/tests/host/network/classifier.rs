//! Classifiers of records.

use fishweir_networks::learn::{HillClimb, Prior};
use fishweir_networks::records::{Binning, MISSING, Records, TextTable, Variable};
use fishweir_networks::{ClassifierPlan, Method, NetworkClassifier, NetworkEvaluation};
use fishweir_tests::oracle::Joint;

use super::{assert_close, stored};

const METHODS: [Method; 8] = [
    Method::NaiveBayes,
    Method::TreeAugmented,
    Method::KDependence(2),
    Method::Climbed,
    Method::FisherTree,
    Method::FisherClimbed,
    Method::TopTree,
    Method::TopKDependence(2),
];

fn plan(method: Method) -> ClassifierPlan {
    ClassifierPlan { method, prior: Prior::PseudoCount(1.0), climb: HillClimb::default() }
}

fn accuracy(classifier: &NetworkClassifier, records: &Records) -> f64 {
    NetworkEvaluation::of(classifier, records).expect("judged").figures.accuracy
}

#[test]
fn all_of_them_come_near_the_network_that_records_were_drawn_from() {
    let network = stored("asia");
    let class = network.node("dysp").expect("a node");
    let (train, test) = (network.sample(2000, 1), network.sample(2000, 2));
    // The network itself: the larger of two joint probabilities.
    let right = |row: &[u16]| {
        let log = |state| {
            let mut row = row.to_vec();
            row[class] = state;
            network.log_likelihood(&row).expect("whole")
        };
        u16::from(log(1) > log(0)) == row[class]
    };
    let best = test.rows().filter(|row| right(row)).count() as f64 / 2000.0;
    for method in METHODS {
        let classifier = plan(method).train(network.variables(), &train, class).expect("trained");
        let found = accuracy(&classifier, &test);
        assert!((best - 0.03..=best + 0.01).contains(&found), "{method:?}: {found}, best {best}");
        let text = serde_json::to_string(&classifier).expect("written");
        let again: NetworkClassifier = serde_json::from_str(&text).expect("read");
        assert_eq!(again, classifier);
    }
}

#[test]
fn missing_attributes_are_summed_out() {
    let network = stored("cancer");
    let class = network.node("Cancer").expect("a node");
    let train = network.sample(3000, 5);
    let variables = network.variables();
    let mut partial = network.sample(20, 6);
    partial.forget(0);
    partial.forget(4);
    for method in [Method::NaiveBayes, Method::TreeAugmented, Method::Climbed] {
        let classifier = plan(method).train(variables, &train, class).expect("trained");
        let learnt = classifier.network();
        let shape = learnt.shape();
        let tables: Vec<Vec<Vec<f64>>> = (0..5)
            .map(|node| {
                learnt.table(node).chunks(shape.cards()[node]).map(<[f64]>::to_vec).collect()
            })
            .collect();
        let joint = Joint::of(shape.cards(), shape.all_parents(), &tables);
        let values = classifier.values(&partial).expect("judged");
        for (row, values) in partial.rows().zip(values) {
            let mut evidence = row.to_vec();
            evidence[class] = MISSING;
            let given = joint.given(&evidence);
            let total = given.sum(|_| 1.0);
            for (state, value) in values.into_iter().enumerate() {
                let p = given.sum(|x| f64::from(usize::from(x[class]) == state)) / total;
                assert_close(value.exp(), p, 1e-10, "posterior");
            }
        }
    }
    // A linear machine's value is the mean over what is missing, whatever that is.
    let machine = plan(Method::FisherTree).train(variables, &train, class).expect("trained");
    let hidden = machine.values(&partial).expect("judged");
    assert!(hidden.iter().flatten().all(|value| value.is_finite()));
}

#[test]
fn cross_validation_judges_every_record_once_and_learns_from_the_others() {
    let network = stored("asia");
    let records = network.sample(300, 3);
    let mut text = "a,n,class\n".to_owned();
    for (index, row) in records.rows().enumerate() {
        // A column of numbers that tells the class, and one field that is missing.
        let a = if index % 50 == 7 { "?".to_owned() } else { row[0].to_string() };
        text += &format!("{a},{},{}\n", f64::from(row[7]) * 100.0 + index as f64 * 0.01, row[7]);
    }
    let table = TextTable::parse("x.csv", text.as_bytes()).expect("a table");
    let binning = Binning { missing_is_a_state: true, ..Binning::default() };
    for method in METHODS {
        let found =
            NetworkEvaluation::cross_validate(&plan(method), &binning, &table, 2, (5, Some(1)));
        let found = found.expect("judged");
        assert_eq!(found.figures.windows, 300);
        assert!(found.figures.accuracy > 0.9, "{method:?}: {}", found.figures.accuracy);
        assert_eq!(found.log_loss.is_some(), !method.is_linear());
        let interval = found.accuracy.expect("an interval");
        assert!(interval.low < found.figures.accuracy && interval.high <= 1.0);
    }
}

#[test]
fn what_cannot_be_trained_is_refused() {
    let network = stored("asia");
    let (records, variables) = (network.sample(50, 1), network.variables());
    assert!(plan(Method::NaiveBayes).train(variables, &records, 8).is_err());
    let one = Records::of_rows(8, records.rows().filter(|row| row[7] == 0));
    let error = plan(Method::NaiveBayes).train(variables, &one, 7).expect_err("one class");
    assert!(error.to_string().contains("has no record"), "{error}");
    let mut three = variables.to_vec();
    three[7].states.push("maybe".into());
    for method in METHODS {
        let error = plan(method).train(&three, &records, 7).expect_err("nothing of `maybe`");
        assert!(error.to_string().starts_with("class `maybe` of column `"), "{error}");
    }
    let classifier = plan(Method::NaiveBayes).train(variables, &records, 7).expect("trained");
    assert!(classifier.values(&records.select(&[0, 1])).is_err());
    let text = serde_json::to_string(&classifier).expect("written");
    for (from, to) in [("\"column\":7", "\"column\":9"), ("naive_bayes", "fisher_tree")] {
        assert!(serde_json::from_str::<NetworkClassifier>(&text.replace(from, to)).is_err());
    }
}

#[test]
fn a_class_with_one_record_leaves_the_others_their_machines() {
    // The class is the first column in nine of ten records; four of five are of one class.
    let row = |i: u16| {
        [
            u16::from(i.is_multiple_of(5)),
            i % 3,
            u16::from(i.is_multiple_of(5)) ^ u16::from(i % 10 == 7),
        ]
    };
    let mut records = Records::of_rows(3, (0..200).map(row));
    let test = records.clone();
    records.push(&[1, 1, 2]);
    let variables = Variable::numbered(&[2, 3, 3]);
    for method in [Method::FisherTree, Method::TopTree] {
        let classifier = plan(method).train(&variables, &records, 2).expect("trained");
        let found = accuracy(&classifier, &test);
        assert!(found > 0.89, "{method:?}: {found}");
    }
}
