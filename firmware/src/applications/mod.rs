//! Applications, each written once: generic over the byte stream and the classifier, knowing no board.

pub mod adapt;
pub mod classify_stream;
