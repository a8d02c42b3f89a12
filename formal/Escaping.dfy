// A name or a description in XML: five characters are written as entities, and nothing is lost by it.

module Escaping {
  predicate method NeedsHtmlEscape(c: char) { c == '<' || c == '>' || c == '&' || c == '"' || c == '\'' }

  function method Entity(c: char): string {
    if c == '<' then "&lt;" else if c == '>' then "&gt;" else if c == '&' then "&amp;"
    else if c == '"' then "&quot;" else if c == '\'' then "&#x27;" else [c]
  }

  function Escaped(s: string): string
    decreases |s|
  {
    if |s| == 0 then "" else Entity(s[0]) + Escaped(s[1..])
  }

  method Escape(s: string) returns (t: string)
    ensures t == Escaped(s)
  {
    t := "";
    var i := |s|;
    while i > 0
      invariant 0 <= i <= |s|
      invariant t == Escaped(s[i..])
    {
      i := i - 1;
      assert s[i..][1..] == s[i + 1..];
      t := Entity(s[i]) + t;
    }
    assert s[0..] == s;
  }

  // Only the ampersands of entities are left.
  predicate IsHtmlSafe(t: string) { forall i :: 0 <= i < |t| ==> t[i] == '&' || !NeedsHtmlEscape(t[i]) }

  lemma EntitiesAreSafe(c: char)
    ensures IsHtmlSafe(Entity(c))
  {
  }

  lemma SafeTextsJoin(a: string, b: string)
    requires IsHtmlSafe(a) && IsHtmlSafe(b)
    ensures IsHtmlSafe(a + b)
  {
  }

  lemma EscapedTextIsSafe(s: string)
    ensures IsHtmlSafe(Escaped(s))
    decreases |s|
  {
    if |s| > 0 {
      EscapedTextIsSafe(s[1..]);
      EntitiesAreSafe(s[0]);
      SafeTextsJoin(Entity(s[0]), Escaped(s[1..]));
    }
  }

  // How many characters the first entity or character takes, and what it means.
  function Width(t: string): nat
    requires |t| > 0
    ensures 1 <= Width(t) <= |t|
  {
    if t[0] != '&' || |t| < 4 then 1
    else if t[1] == 'l' || t[1] == 'g' then 4
    else if t[1] == 'a' && |t| >= 5 then 5
    else if (t[1] == 'q' || t[1] == '#') && |t| >= 6 then 6
    else 1
  }

  function Meaning(t: string): char
    requires |t| > 0
  {
    if Width(t) == 1 then t[0]
    else if t[1] == 'l' then '<' else if t[1] == 'g' then '>' else if t[1] == 'a' then '&'
    else if t[1] == 'q' then '"' else '\''
  }

  function Unescaped(t: string): string
    decreases |t|
  {
    if |t| == 0 then "" else [Meaning(t)] + Unescaped(t[Width(t)..])
  }

  lemma AnEntityIsReadBack(c: char, rest: string)
    ensures var t := Entity(c) + rest; Width(t) == |Entity(c)| && Meaning(t) == c && t[Width(t)..] == rest
  {
    var t := Entity(c) + rest;
    assert t[0] == Entity(c)[0];
    if NeedsHtmlEscape(c) {
      assert t[1] == Entity(c)[1];
    }
    assert t[|Entity(c)|..] == rest;
  }

  // So no two texts look alike once they are escaped.
  lemma EscapingLosesNothing(s: string)
    ensures Unescaped(Escaped(s)) == s
    decreases |s|
  {
    if |s| > 0 {
      EscapingLosesNothing(s[1..]);
      AnEntityIsReadBack(s[0], Escaped(s[1..]));
      assert s == [s[0]] + s[1..];
    }
  }
}
