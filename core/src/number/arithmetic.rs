use super::{Number, Parameter, Real, RealParameter, Scalar, Tangent};

/// Numbers of all four operations, which a model stores and a state holds alike: the real and the dual
/// ones. What a recursion that divides is written over.
pub trait Arithmetic:
    RealParameter<Number = Self>
    + Scalar<
        Weight = Self,
        Real = <Self as Parameter>::Real,
        LogScale = <Self as Parameter>::Real,
        Reading = Self,
    >
{
    /// Difference.
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        let rates = other.tangent().scale(-<Self as Parameter>::Real::ONE);
        Self::new(Parameter::value(self) - Parameter::value(other), self.tangent().plus(rates))
    }

    /// Product with a real number.
    #[inline(always)]
    fn scaled(self, factor: <Self as Parameter>::Real) -> Self {
        Self::new(Parameter::value(self) * factor, self.tangent().scale(factor))
    }

    /// `1 / self`, with the rates `-d self / self^2`.
    #[inline(always)]
    fn reciprocal(self) -> Self {
        let reciprocal = <Self as Parameter>::Real::ONE / Parameter::value(self);
        Self::new(reciprocal, self.tangent().scale(-(reciprocal * reciprocal)))
    }

    /// Square root of a positive number.
    #[inline]
    fn square_root(self) -> Self {
        let root = Parameter::value(self).sqrt();
        Self::new(root, self.tangent().scale(<Self as Parameter>::Real::HALF / root))
    }

    /// Logarithm of a positive number.
    #[inline]
    fn logarithm(self) -> Self {
        let reciprocal = <Self as Parameter>::Real::ONE / Parameter::value(self);
        Self::new(Parameter::value(self).ln(), self.tangent().scale(reciprocal))
    }
}

impl<W> Arithmetic for W where
    W: RealParameter<Number = W>
        + Scalar<
            Weight = W,
            Real = <W as Parameter>::Real,
            LogScale = <W as Parameter>::Real,
            Reading = W,
        >
{
}
