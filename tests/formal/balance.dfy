// The requirements on balance, said again in plain arithmetic.

include "../../formal/GF3.dfy"

module Balance {
  import opened GF3

  lemma TheMissingTritBalances(s: seq<Elem>)
    ensures IntSum(s + [FindBalancer(s)]) % 3 == 0
    ensures FindBalancer(s) == 0 <==> IntSum(s) % 3 == 0
  {
    TheBalancerBalances(s);
    SumIsTheSumModuloThree(s);
    SumIsTheSumModuloThree(s + [FindBalancer(s)]);
  }

  lemma NineOfTwentySeven()
    ensures BalancedTriples() == 9
  {
    NineOfTwentySevenTriplesAreBalanced();
  }

  lemma BalancedMeansTheSum(a: Elem, b: Elem, c: Elem)
    ensures One(a, b, c) == (if (a + b + c) % 3 == 0 then 1 else 0)
  {
  }
}
