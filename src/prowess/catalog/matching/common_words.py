"""Words that tell skills apart badly: words that are left out, and how many skills have each other frequent word.

The shares were counted on 2026-11-29 over the names and descriptions of 1594 different public skills (the pinned
ones of `tools.public_skills`). They keep the weights of words right in a
catalog of a few skills, whose own counts tell little.
"""

from __future__ import annotations

_ENGLISH = """
a about above after again all also am an and another any are aren as ask asked asking at be because been before
being below between both but by can cannot could couldn did didn do does doesn doing don done down during each
either else etc even ever every few for from further get gets getting give given goes going gonna got had has hasn
have haven having he hello help helps her here hers hey hi him his how i if in instead into is isn it its itself
just kind know less let lets like ll lot m make makes making many may maybe me might mine more most much must my
myself need needed needs neither no nor not now of off ok okay on once one only or other others our ours out over
own per please plz quite rather re really s said same say see she should shouldn since skill skills so some somehow
someone something still such t take tell than thank thanks that the their them then there these they thing things
this those though through thus to together too tried try trying u under until up upon us use used user uses using ve
very via wanna want wanted wants was wasn way we well went were weren what whatever when whenever where wherever
whether which while who whom whose why will with within without won would wouldn yes yet you your yours
"""  # function words, and words of every request
_OTHER_LANGUAGES = """
aan aber al algo alguien alla alle als anche ao aos att au auch auf aus aux av avec bei bij bir bis bitte brauche bu ce
ces cet cette che chi ci com comme como con cual cui da dal dalla dans das dass dat de degli dei del della delle dem
den der des det deze di dich die dies diese diesem diesen dieser dieses dig dir dit doch door dos du durch e een ein
eine einem einen einer eines el ela ele ella elle ellos em en er eres es essa esse est esta estan estas este esto estos
et etre ett etwas eu faire fazer foi fra fur gli ha hab habe haben hacer har hay heb het hier hij ho hoe hur ich icin
ihr ik il ile ils im ins isso ist jag jak je jeg jest jetzt kan kann kannst kein keine konnen la las le les leur lo los
lui ma maar mais med meg mein meine meinem meinen meiner mes met meu meus mi mia mich mie mig mij mijn minha minhas mio
mir mis mit mitt mochte moet moi moj moja moje mon muss muy na naar nach nao nas ne necesito nel nella nicht nie niet
noch nog noi nos nosso nostro notre nous nur o och oder og ohne om onze ook op ou pa par para pas pela pelo pero peux
piu po por porque posso pour pouvez precisa preciso prosze puede puedes puedo puoi qu quando que quello quero questa
questo qui quiero quoi sa schon se sehr sein sem ser ses seu seus si sich sie sig sin sind sobre soll som son sono sont
soy su sua suas sul suo sur sus ta tambien te tem tengo tes tiene til till todos toi ton tot tra tu uit um uma umas un
una unas und une uno unos uns unser unsere unter veux vi vill voce vom von voor vor vorrei votre vous w war wat wenn
werden wie wil wir wird wordt y ya yo z za ze zijn zo zu zum zur
"""  # function words of nine languages, without accents; not those that are English nouns too, such as todo and comment
COMMON = frozenset((_ENGLISH + _OTHER_LANGUAGES).split())

# Share of public skills -> the stems with at least this share and less than twice as much
_STEMS_BY_SHARE = {
    0.16: """
    creat code
    """,
    0.08: """
    build review trigger file work agent write design test generat project implement run data structur ani task set
    check pattern workflow
    """,
    0.04: """
    manag tool audit plan api mention context analysi optim befor document perform new configur cover model read
    find valid product googl claud ai chang app report secur produc exist develop system qualiti specif add analyz
    featur architectur issu page improv guid includ error across fix md request best practic integr framework
    session whenev onli compon doc requir content json updat extract handl provid multi format
    """,
    0.02: """
    process sourc custom state local web base output refer pipelin servic decis research flow python edit queri
    convers strategi autom rout debug execut search deploy type time list detect access setup text action ui first
    evalu depend codebas visual engin command server platform applic cli track clean spec js map question email
    invok templat log rule author style interact comprehens oper standard call current full prompt readi repo appli
    nativ recip token post target mcp market verifi languag messag knowledg react migrat start complet github activ
    refactor respons script convert event gws modul mode end follow open support high markdown commit publish git
    path loop packag name evid gate share sdk technic bug function real memori librari version orchestr show schema
    assess driven deep next captur prepar pass behavior pr someon modifi plugin scan instal imag triag singl select
    html guidanc creator frontend control general verif diagnos self understand form connect node against status
    load option level turn domain import databas llm identifi
    """,
    0.01: """
    failur non draft branch maintain config note cross typescript troubleshoot net vulner keep hook direct copi risk
    multipl cloud organiz summari convent miss fail back live dashboard metric defin step expert runtim learn merg
    expo everi block save parallel modern link chat present contain browser navig cach effect artifact bundl case
    compar automat descript explor human anim contract graph vs filter measur focus video result core layout
    investig complex schedul workspac monitor team upgrad ctx uipath never safe auto directori look go answer
    recommend url lifecycl trace rate enabl infrastructur detail meet default alreadi entri subag store score export
    complianc authent router approv resolv gmail diff remov releas histori break coverag profil explicit send
    resourc static signal remot worker inspect slide input network cloudflar cd hand tabl scope section pull involv
    record scaffold discov builder correct javascript valu media whi auth decid environ boundari sheet repositori
    progress persona index sequenc polici match ad extern render health pdf protocol meta idea problem onboard
    channel css size comput exampl semant calendar toolkit right tree pre doe screen screenshot batch dev rust layer
    discoveri stream choos brand assist launch public group ticket scale io line experi anoth fetch safeti field
    long phrase generic relat price client posit brief clear slow terraform busi stage observ drive oss prose suit
    handoff unit ground key interview land plain stack csv priorit folder interfac compil inform power cost
    profession explain logic communic websit site paid space android tag feedback upload uip actual reach tier
    definit transform refin phase codex root accept rest reduc tune repeat composit incid sale materi split asset
    propos graphql replac gap download sql word account lead dbt maestro claim ship two plus delet rewrit pars
    secret item capabl intellig social intent regress solut increment usag approach comparison limit persist
    checklist method preserv date py theme estim creativ program guidelin smart conduct fuzz raw point storag embed
    systemat encount spreadsheet free vue
    """,
}
SHARES = {stem: share for share, stems in _STEMS_BY_SHARE.items() for stem in stems.split()}
