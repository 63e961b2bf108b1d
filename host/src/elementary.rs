//! Elementary functions with the same bits on every platform.
//!
//! Those of the standard library are the platform's: the last bit of `exp` differs between C libraries, and in one of them between
//! processors. Models would then depend on the machine that fitted them. `tests/lint` refuses those of the standard library, except
//! powers of two with whole exponents, which are exact.

/// The functions of libm, in double precision, as the core has them.
pub trait Elementary {
    /// `e^x`.
    fn portable_exp(self) -> f64;
    /// `e^x - 1`.
    fn portable_exp_m1(self) -> f64;
    /// `log_e x`.
    fn portable_ln(self) -> f64;
    /// `log_e (1 + x)`.
    fn portable_ln_1p(self) -> f64;
    /// `log_2 x`.
    fn portable_log2(self) -> f64;
    /// `x^power`.
    fn portable_powf(self, power: f64) -> f64;
    /// `2^x`.
    fn portable_exp2(self) -> f64;
    /// `cos x`.
    fn portable_cos(self) -> f64;
    /// `sin x` and `cos x`.
    fn portable_sin_cos(self) -> (f64, f64);
    /// The angle whose sine is `x`, in radians.
    fn portable_asin(self) -> f64;
}

impl Elementary for f64 {
    fn portable_exp(self) -> f64 {
        libm::exp(self)
    }

    fn portable_exp_m1(self) -> f64 {
        libm::expm1(self)
    }

    fn portable_ln(self) -> f64 {
        libm::log(self)
    }

    fn portable_ln_1p(self) -> f64 {
        libm::log1p(self)
    }

    fn portable_log2(self) -> f64 {
        libm::log2(self)
    }

    fn portable_powf(self, power: f64) -> f64 {
        libm::pow(self, power)
    }

    fn portable_exp2(self) -> f64 {
        libm::exp2(self)
    }

    fn portable_cos(self) -> f64 {
        libm::cos(self)
    }

    fn portable_sin_cos(self) -> (f64, f64) {
        libm::sincos(self)
    }

    fn portable_asin(self) -> f64 {
        libm::asin(self)
    }
}
