// Answers questions about the model, one a line, so that another program can be compared with it. Written by hand and
// not proved: it takes lines apart, calls what was compiled from the proved methods, and prints what they say.
//
// A line is a command and its arguments, separated by tabs. \uXXXX writes any character; a list separates its items by
// U+001F and `-` is an absent value, `+...` one that is there.

using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Numerics;
using System.Security.Cryptography;
using System.Text;
using System.Threading;
using Chars = Dafny.Sequence<char>;
using Numbers = Dafny.Sequence<System.Numerics.BigInteger>;
using Texts = Dafny.Sequence<Dafny.Sequence<char>>;
using Model = AgentSkills_Compile.__default;
using Names = Names_Compile.__default;
using Paths = Containment_Compile.__default;
using Words = Text_Compile.__default;
using Xml = Escaping_Compile.__default;
using Field = GF3_Compile.__default;
using Session = Activation_Compile.__default;
using Layered = Layers_Compile.__default;

static class Oracle {
  static void Main() {
    // The functions that split a text are recursive.
    var worker = new Thread(Answer, 512 << 20);
    worker.Start();
    worker.Join();
  }

  static void Answer() {
    var output = new StreamWriter(Console.OpenStandardOutput(), new UTF8Encoding(false));
    var input = new StreamReader(Console.OpenStandardInput(), new UTF8Encoding(false));
    string line;
    while ((line = input.ReadLine()) != null) {
      output.Write(Quoted(AnswerTo(line.Split('\t'))) + "\n");
    }
    output.Flush();
  }

  static string AnswerTo(string[] question) {
    switch (question[0]) {
      case "name": {
        var s = Text(question[1]);
        bool scanned;
        Names.ScanName(s, out scanned);
        return Bits(Names.IsValidSkillName(s), scanned, Names.HasNameLength(s), Names.AllNameChars(s),
          Names.NoEdgeHyphen(s), Names.NoConsecutiveHyphens(s));
      }
      case "path": {
        Text_Compile.Option<Texts> found;
        Paths.CheckRelative(Text(question[1]), out found);
        return Optional(found);
      }
      case "link":
        return Optional(Paths.InnerComponents(Words.Split(Text(question[1]), '/'), Texts.Empty));
      case "fences":
        return Bits(Model.HasFrontmatter(Text(question[1])));
      case "tools": {
        bool scanned;
        Model.ScanTools(Text(question[1]), out scanned);
        return Bits(scanned);
      }
      case "escape": {
        Chars escaped;
        Xml.Escape(Text(question[1]), out escaped);
        return Plain(escaped);
      }
      case "body": {
        BigInteger lines;
        var body = Text(question[1]);
        Model.CountLines(body, out lines);
        return lines + " " + Model.EstimateTokens(new BigInteger(body.Count)) + " "
          + Bits(lines <= Model.MAX__BODY__LINES, Model.IsValidBodyTokens(body));
      }
      case "files": {
        var found = Model.SkillFile(List(question[1]));
        return found.is_Some ? "+" + Plain(found.dtor_value) : "-";
      }
      case "front": {
        bool ok;
        Model.CheckFrontmatter(Front(question, 1), out ok);
        return Bits(ok);
      }
      case "skill": {
        bool ok;
        var directory = AgentSkills_Compile.Directory.create(Text(question[8]), List(question[9]));
        Model.CheckCompleteSkill(AgentSkills_Compile.Skill.create(
          directory, Front(question, 1), Text(question[10]), List(question[11])), out ok);
        return Bits(ok);
      }
      case "winner": {
        var order = question[1] == "project-first"
          ? Layers_Compile.Order.create_ProjectFirst() : Layers_Compile.Order.create_PersonalFirst();
        var holder = question[2] == "-"
          ? Text_Compile.Option<Layers_Compile.Layer>.create_None()
          : Text_Compile.Option<Layers_Compile.Layer>.create_Some(LayerOf(question[2].Substring(1)));
        Text_Compile.Option<BigInteger> winner;
        Layered.Winner(Dafny.Sequence<Layers_Compile.Copy>.FromElements(
          question[3] == "" ? new Layers_Compile.Copy[0] : question[3].Split(';').Select(CopyOf).ToArray()),
          holder, order, out winner);
        return winner.is_Some ? "+" + winner.dtor_value : "-";
      }
      case "session":
        return Replayed(BigInteger.Parse(question[1]), BigInteger.Parse(question[2]), question.Skip(3));
      case "trit": {
        var name = Enumerable.Range(0, question[1].Length / 2)
          .Select(i => byte.Parse(question[1].Substring(2 * i, 2), NumberStyles.HexNumber)).ToArray();
        BigInteger trit;
        Field.ComputeTrit(Numbers.FromElements(
          SHA256.Create().ComputeHash(name).Select(part => new BigInteger(part)).ToArray()), out trit);
        var role = Field.ElemToRole(trit);
        return trit + " " + Field.ToBalanced(trit) + " "
          + (role.is_Coordinator ? "Coordinator" : role.is_Generator ? "Generator" : "Verifier");
      }
      case "trits": {
        var trits = Numbers.FromElements(Digits(question[1]));
        BigInteger sum;
        Field.Sum(trits, out sum);
        return sum + " " + Bits(Field.IsBalanced(trits)) + " " + Field.FindBalancer(trits);
      }
      default:
        throw new ArgumentException("no such question: " + question[0]);
    }
  }

  static Layers_Compile.Layer LayerOf(string name) {
    switch (name) {
      case "enterprise": return Layers_Compile.Layer.create_Enterprise();
      case "personal": return Layers_Compile.Layer.create_Personal();
      case "project": return Layers_Compile.Layer.create_Project();
      case "plugin": return Layers_Compile.Layer.create_Plugin();
      default: throw new ArgumentException("no such layer: " + name);
    }
  }

  static Layers_Compile.Copy CopyOf(string written) {
    var part = written.Split(',');
    return Layers_Compile.Copy.create(LayerOf(part[0]), BigInteger.Parse(part[1]), part[2] == "1",
      BigInteger.Parse(part[3]), BigInteger.Parse(part[4]));
  }

  static string Replayed(BigInteger cap, BigInteger depth, IEnumerable<string> events) {
    var state = Session.Empty();
    var said = new List<string>();
    foreach (var one in events) {
      var keys = Numbers.FromElements(Digits(one.Substring(1)));
      Activation_Compile.Event step;
      switch (one[0]) {
        case 'L': step = Activation_Compile.Event.create_Load(keys, Activation_Compile.Mode.create_Replace()); break;
        case 'A': step = Activation_Compile.Event.create_Load(keys, Activation_Compile.Mode.create_Add()); break;
        case 'U': step = Activation_Compile.Event.create_Unload(keys); break;
        case 'E': step = Activation_Compile.Event.create_Enter(keys.Select(0)); break;
        case 'R': step = Activation_Compile.Event.create_Read(keys.Select(0)); break;
        case 'X': step = Activation_Compile.Event.create_Run(keys.Select(0)); break;
        default: throw new ArgumentException("no such event: " + one);
      }
      var next = Session.Next(state, step, cap, depth);
      state = Session.After(state, step, cap, depth);
      said.Add((next.is_Some ? "+" : "-") + Written(state.dtor_active) + "|" + Written(state.dtor_stack));
    }
    return string.Join(" ", said);
  }

  static AgentSkills_Compile.Frontmatter Front(string[] question, int at) {
    return AgentSkills_Compile.Frontmatter.create(List(question[at]), Text(question[at + 1]), Text(question[at + 2]),
      Perhaps(question[at + 3]), Perhaps(question[at + 4]), List(question[at + 5]), Text(question[at + 6]));
  }

  static string Bits(params bool[] values) { return string.Concat(values.Select(value => value ? "1" : "0")); }

  static string Written(Numbers numbers) { return string.Concat(numbers.Elements.Select(number => number.ToString())); }

  static BigInteger[] Digits(string text) { return text.Select(digit => new BigInteger(digit - '0')).ToArray(); }

  static Chars Text(string raw) {
    if (raw.IndexOf('\\') < 0) return Chars.FromElements(raw.ToCharArray());
    var text = new StringBuilder();
    for (var i = 0; i < raw.Length; i++) {
      if (raw[i] != '\\') { text.Append(raw[i]); continue; }
      text.Append((char)int.Parse(raw.Substring(i + 2, 4), NumberStyles.HexNumber));
      i += 5;
    }
    return Chars.FromElements(text.ToString().ToCharArray());
  }

  static Texts List(string raw) {
    return Texts.FromElements(raw == "" ? new Chars[0] : raw.Substring(1).Split('\u001f').Select(Text).ToArray());
  }

  static Text_Compile.Option<Chars> Perhaps(string raw) {
    return raw == "-"
      ? Text_Compile.Option<Chars>.create_None()
      : Text_Compile.Option<Chars>.create_Some(Text(raw.Substring(1)));
  }

  static string Optional(Text_Compile.Option<Texts> found) {
    return found.is_Some ? "+" + string.Join("/", found.dtor_value.Elements.Select(Plain)) : "-";
  }

  static string Plain(Chars text) { return new string(text.Elements.ToArray()); }

  static string Quoted(string text) {
    var quoted = new StringBuilder();
    foreach (var c in text) {
      if (c < ' ' || c > '~' || c == '\\') quoted.AppendFormat("\\u{0:x4}", (int)c); else quoted.Append(c);
    }
    return quoted.ToString();
  }
}
