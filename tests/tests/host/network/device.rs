//! Classifiers and alarms as a device holds them, against the host.

use fishweir_core::classify::decide;
use fishweir_core::filter::Stream;
use fishweir_core::network::{FactorClassifier, FactorLayout};
use fishweir_networks::learn::{HillClimb, Prior};
use fishweir_networks::records::{MISSING, Records, Variable};
use fishweir_networks::{
    AlarmPlan, ClassifierPlan, DeployedAlarm, DeployedEvents, DeployedSum, EventCost, Method,
    Network, NetworkError, NetworkFisher, Width,
};

use super::stored;

#[test]
fn sums_on_a_device_decide_as_the_host_does() {
    let network = stored("survey");
    let class = network.node("T").expect("a node");
    let (train, test) = (network.sample(1500, 1), network.sample(300, 2));
    let attributes: Vec<usize> = (0..6).filter(|&column| column != class).collect();
    let events = test.select(&attributes);
    for method in [
        Method::NaiveBayes,
        Method::TreeAugmented,
        Method::KDependence(3),
        Method::Climbed,
        Method::FisherTree,
    ] {
        let plan =
            ClassifierPlan { method, prior: Prior::PseudoCount(1.0), climb: HillClimb::default() };
        let classifier = plan.train(network.variables(), &train, class).expect("trained");
        let deployed = DeployedSum::of(&classifier).expect("no zero");
        let narrow = |values: Vec<usize>| values.into_iter().map(|x| x as u16).collect::<Vec<_>>();
        let cards = narrow(deployed.columns.iter().map(|column| column.card()).collect());
        let lengths = narrow(deployed.scopes.iter().map(Vec::len).collect());
        let columns = narrow(deployed.scopes.concat());
        let terms = FactorLayout::new(&cards, &lengths, &columns).expect("terms");
        let tables: [&[f32]; 3] = std::array::from_fn(|output| &deployed.tables[output][..]);
        let bias = std::array::from_fn(|output| deployed.bias[output]);
        let sum = FactorClassifier::new(terms, tables, bias).expect("tables");
        sum.validate().expect("finite");
        assert_eq!(sum.bytes(), deployed.flash(), "{method:?}");
        let mut stream = Stream::new(&sum);
        let decisions = deployed.decisions(&events).expect("events");
        let values = classifier.values(&test).expect("judged");
        for ((event, values), decision) in events.rows().zip(values).zip(decisions) {
            stream.reset();
            stream.push(event).expect("an event");
            let (device, host) = (stream.read(), decide(&values));
            assert_eq!(device, decision, "{method:?}");
            assert!((f64::from(device.margin) - host.margin).abs() < 1e-4 * (1.0 + host.margin));
            assert!(device.class == host.class || host.margin < 1e-4, "{method:?}");
        }
        let source = deployed.to_source();
        for part in
            ["type Model = FactorClassifier<'static, f32, 3>", "COLUMNS: [&str; 5]", "\"train\""]
        {
            assert!(source.contains(part), "{source}");
        }
    }
    let zero = ClassifierPlan {
        method: Method::TreeAugmented,
        prior: Prior::PseudoCount(0.0),
        climb: HillClimb::default(),
    };
    let classifier = zero.train(network.variables(), &train.subset(&[0, 1, 2, 3, 4]), class);
    let error = DeployedSum::of(&classifier.expect("trained")).expect_err("zeros").to_string();
    assert!(error.contains("pseudo-count above zero"), "{error}");
}

#[test]
fn alarms_come_as_rarely_as_wanted_and_name_what_changed() {
    let network = stored("survey");
    let fisher = NetworkFisher::new(network.clone(), Width::default(), 1);
    let plan = AlarmPlan { memory: 60.0, mean_time: 500.0 };
    let alarm = plan.calibrate(&fisher, None, 1).expect("calibrated");
    let false_alarms = alarm.alarms(&network.sample(100_000, 9)).expect("possible").len();
    assert!((100..=400).contains(&false_alarms), "{false_alarms} where 200 were wanted");
    // From event 1 000 on everybody takes the train.
    let travel = network.node("T").expect("a node");
    let changed = |(index, row): (usize, &[u16])| {
        let mut row = row.to_vec();
        if index >= 1000 {
            row[travel] = 1;
        }
        row
    };
    let events = Records::of_rows(6, network.sample(1200, 10).rows().enumerate().map(changed));
    let alarms = alarm.alarms(&events).expect("possible");
    let seen = alarms.iter().find(|(event, _)| *event >= 1000).expect("an alarm");
    assert!(seen.0 < 1060 && seen.1 == travel, "{alarms:?}");
    let normal = network.sample(20_000, 11);
    let by_records = plan.calibrate(&fisher, Some(&normal), 1).expect("calibrated");
    assert!((by_records.threshold / alarm.threshold - 1.0).abs() < 0.25);
    assert!(plan.calibrate(&fisher, Some(&network.sample(4000, 1)), 1).is_err(), "too few");
    assert!(AlarmPlan { memory: 1.0, ..plan }.calibrate(&fisher, None, 1).is_err());
    let source = alarm.to_source();
    assert!(source.contains("type Model = Discrepancy<'static, f32, 6, 37>"), "{source}");
}

#[test]
fn what_no_device_holds_is_refused_where_it_is_exported() {
    // One state too many, which a firmware's build would have found.
    let (many, few) = (Variable::numbered(&[65_535, 2]), Records::of_rows(2, [[0, 0], [1, 1]]));
    let plan = ClassifierPlan {
        method: Method::NaiveBayes,
        prior: Prior::PseudoCount(1.0),
        climb: HillClimb::default(),
    };
    let classifier = plan.train(&many, &few, 1).expect("trained");
    let error = DeployedSum::of(&classifier).expect_err("a state too many").to_string();
    assert!(error.contains("`x0` has 65535 states; a device can have 1 to 65534"), "{error}");
    let fisher = NetworkFisher::new(classifier.network().clone(), Width::default(), 1);
    let error = DeployedAlarm::silent(&fisher, 9.0).expect_err("a state too many").to_string();
    assert!(error.contains("`x0` has 65535 states"), "{error}");
}

#[test]
fn an_alarm_says_what_it_costs_and_survives_what_cannot_be() {
    let variables =
        vec![Variable::new("door", ["shut", "open"]), Variable::new("lamp", ["off, or so", "on"])];
    // Behind a shut door the lamp is off.
    let tables = [vec![vec![0.75, 0.25]], vec![vec![1.0, 0.0], vec![0.5, 0.5]]];
    let network = Network::new(variables, vec![vec![], vec![0]], &tables).expect("a network");
    let fisher = NetworkFisher::new(network, Width::default(), 1);
    let alarm = DeployedAlarm::silent(&fisher, 9.0).expect("fits");
    let events = Records::of_rows(2, [[0, 0], [0, 1], [MISSING, 1]]);
    assert!(matches!(alarm.alarms(&events), Err(NetworkError::Impossible { record: 1, .. })));
    let deployed = DeployedEvents::Alarm(alarm);
    assert_eq!(deployed.lines(&events), "shut,\"off, or so\"\nshut,on\n?,on\n");
    let answers = deployed.answers(&events).expect("they fit");
    assert!(answers[0].starts_with("normal 1 ") && answers[0].ends_with(" door"), "{answers:?}");
    assert_eq!(answers[1], "refused 2 impossible");
    assert!(answers[2].starts_with("normal 3 "), "{answers:?}");
    let wanted = EventCost {
        model_bytes: 2 * (2 + 2 + 3) + 8 * 6 + 12,
        state_bytes: 4 * (6 + 2 * 2 + 3),
        look_ups: 3,
        operation: "multiply-adds",
        push_operations: (2 * 2 + 2) + (2 * 2 + 2),
        reading_operations: 2 * 2,
    };
    assert_eq!(deployed.cost(), wanted);
}

#[test]
fn a_name_is_exported_as_it_is_whatever_it_says() {
    let name = "use fishweir_core::network";
    let variables = vec![Variable::new(name, ["no", "yes"])];
    let network = Network::new(variables, vec![vec![]], &[vec![vec![0.5, 0.5]]]).expect("one node");
    let fisher = NetworkFisher::new(network, Width::default(), 1);
    let source = DeployedAlarm::silent(&fisher, 9.0).expect("fits").to_source();
    assert!(source.contains(&format!("COLUMNS: [&str; 1] = [{name:?}];")), "{source}");
    assert_eq!(
        source.matches("use fishweir_core::filter::ForgettingFactor;").count(),
        1,
        "{source}"
    );
}
