# ruff: noqa: RUF001 -- words in Cyrillic
"""English words for the beginnings of words in other languages, for tasks that are not written in English.

Asked only for words that no skill has. Most subjects are frequent among public skills. Words that are alike in English
are left out, because they are found by their characters.
"""

from __future__ import annotations

from prowess.catalog.matching.words import folded_text

_SHORTEST = 4  # characters of a beginning, except for pairs of characters

# English words: beginnings in German, French, Spanish, Italian, Portuguese, Dutch, Polish, Russian, Chinese, Japanese.
# A beginning that would be an English word or nearly so ends with "-", which is for readers alone.
_ENTRIES = """
accessibility: barrierefrei accesibil acessibil toegankelijk dostepnosc доступност 无障
account: konto compte cuenta conta rekening счет 账户
analyze: auswert analys analiz analis анализ 分析
answer: antwort repondre reponse responder rispond antwoord odpowied ответ 回复 回答
approve: genehmig approuv aprobar approva aprovar goedkeur 审批
archive: archivier archiver archivar
backup: sicherung sauvegard respaldo kopia резервн 备份
bill invoice: rechnung factur fattur fatura faktur счёт 发票 請求
book: buch livre libro livro boek ksiazk книг
branch: zweig branche rama ветк 分支
budget: haushalt presupuest bilanci orcament begroting бюджет 预算
bug error: fehler erreur bogue errore erro- fout blad ошибк 错误 报错
build: erstell constru costru bouwen zbudow собра 构建
calendar appointment: kalender termin calendrier rendez calendario agenda kalendarz календар 日历 日程
chart diagram: diagramm graphique grafico grafiek wykres график 图表
clean: aufraum bereinig nettoy limpi pulire pulisci opschon очист 清理
code: quelltext quellcode codigo codice код- 代码
compare: vergleich compar confront porown сравн 比较 比べ
contract agreement: vertrag contrat contratt umowa договор 合同 契約
convert: umwandel konvertier convert przekonwert конверт 转换 変換
customer: kunde client kliente klant klient клиент 客户 顧客
data: daten donnee datos dati- dados gegevens danych данны 数据
database: datenbank baza basedatos базу 数据库
debug: debugg depur debogu отлад 调试
deploy: bereitstell deploi desplegar despliegue distribu implantar wdroz разверн 部署
description: beschreib descri opis- описан 描述
design: entwurf entwerf conception conce disen progett ontwerp projekt дизайн 设计
document: dokument doku- документ 文档 文書
download: herunterlad telecharg descarg scaric baixar pobier скача 下载
draw: zeichn dessin dibuj disegn desenh teken рису 绘制
email: nachricht courriel correo posta- почт 邮件
encrypt: verschlussel chiffr cifra szyfr шифр 加密
explain: erklar expliq explic spieg uitleg wyjasn объясн 解释
extract: auslesen extrahier extrai extrae estra wyodrebn извле 提取 抽出
file: datei fichier archivo- arquivo bestand plik- файл 文件
fill: ausfull rempl rellen compil- preench invul wypeln заполн 填写
find: finden trouv encontr buscar trova cerca- zoek znajd найти 查找
fix repair: beheb repar corrig ripar naprawi исправ 修复 修理
form: formular formul modulo- 表单
format: formatier
generate: generier erzeug genera genere gener wygener генер 生成
image photo: bild- bilder imagen immagin imagem afbeelding obraz изображ 图片 画像 图像
improve optimize: verbesser optimier amelior mejor miglior melhor verbeter poprawi улучш 优化 改善
install: installier instal установ 安装
interview: vorstellungsgesprach entretien entrevist colloquio собесед 面试
job resume: lebenslauf bewerbung curriculum emploi trabajo- lavoro- emprego zyciorys резюме 简历
language: sprache langue idioma lingua jezyk язык 语言
lease rental apartment: wohnung miete loyer appartement alquil affit aluguel huurwoning mieszkan аренд 租房
legal law: recht- juridi legale prawn юрид 法律
letter: brief- lettre carta- lettera list- письмо
log: protokoll journaux registro- dziennik журнал 日志
meeting minutes: besprech sitzung reunion riunion reuniao vergader spotkan встреч совещан 会议
merge combine: zusammenfuhr fusion combin unir- unire samenvoeg polacz объедин 合并 結合
migrate: migrier migrar migrer migra мигра 迁移
money cost: kosten geld- argent cout- dinero coste soldi custo koszt деньг стоим 成本
monitor: uberwach surveill monitore monitoriz sorvegl bewak мониторинг 监控
name: namen nombre- nome- naam nazw имена
network: netzwerk reseau rede- sieci- сеть 网络
password secret: passwort kennwort contrasen senha- wachtwoord haslo пароль 密码
performance slow: langsam leistung lent- rendimiento prestazion desempenh wolno медлен 性能
plan: planung planif pianific planej план- 计划
podcast audio speech: sprachaus tonauf parole voix- voz- audio- звук 语音 音频 录音
post article blog: beitrag artikel articul articol artigo artykul стать 文章 博客
present presentation slides: prasentation folien diapositiv presentac presentaz apresenta prezentac презентац 幻灯 演示
price: preis- prix- precio prezz preco- prijs cena- цен- 价格
project: projekt projet proyect progetto projeto проект 项目
query: abfrage requet consult interrog zapytan запрос 查询
read: lesen- liest lire- leer- leggere lees- czyta прочит 读取
report: bericht rapport informe- relator raport отчет отчёт 报告 报表
requirement: anforder exigenc requisit wymag требован 需求
research: recherch forschung investig ricerc pesquis onderzoek badan исследован 研究 调研
review check: pruf uberpruf verif revis rivedi controll controle sprawdz провер 审查 检查
rewrite text: umschreib umformul reecri reescrib riscriv reescrev herschrijv przepis перепис 改写 润色
save: speicher enregistr guardar salvare salvar opslaan zapisz сохран 保存
schedule: zeitplan planning horario- programm- harmonogram расписан 安排
schema: schema- structur
search: suche- rechercher buscar- cercare procur- zoeken szuka поиск 搜索 検索
security vulnerability: sicherheit securit segurid sicurez seguran beveilig bezpiecz безопасн уязвим 安全 漏洞
send: senden schick envoy enviar- inviar- verstur wysla отправ 发送
server: serveur servidor сервер 服务
site web page: webseite website- pagina- strona- сайт- страниц 网站 网页
spreadsheet table: tabelle tableau tablas tabla- tabell tabela arkusz таблиц 表格
story user: anforderungsgeschicht historia- 用户
style: stil- estilo стил
subscribe paywall: abonn suscrip abbona assina подпис 订阅
summarize summary: zusammenfass resum- riassum samenvat podsum streszcz резюмир 总结 摘要 要約
support ticket: kundendienst assistenc assistenz ondersteun поддерж 客服
table column: spalte colonn columna- kolom колон
task todo: aufgabe tache- tarea- compit tarefa taak- zadan задач 任务
team: mannschaft equipe equipo squadr zespol команд 团队
test: testen essai prueba- prova- teste- тест 测试
translate: ubersetz tradui traduc tradur tradu vertal przetlumacz перевод перевед 翻译 翻訳
travel trip: reise- voyage- viaje viaggi viagem podroz путешест 旅行
unit: einheit unitair unitari юнит 单元
update upgrade: aktualisier actualiz aggiorn atualiz bijwerk zaktualiz обнов 更新 升级
upload: hochlad televers subir- caricar carregar загруз 上传
video: filmchen 视频 動画
weather: wetter- meteo- clima- pogod погод 天气 天気
workflow process: ablauf arbeitsablauf flux- flujo- fluxo proces- процесс 流程
write: schreib ecrir redig escrib scriv escrev schrijf napis напиш 编写 写作
"""


def _beginnings() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for line in _ENTRIES.strip().splitlines():
        english, _, others = line.partition(":")
        for other in others.split():
            found.setdefault(folded_text(other.rstrip("-")), tuple(english.split()))
    return found


_BEGINNINGS = _beginnings()


def english_of(word: str) -> tuple[str, ...]:
    """Return English words for a folded word of another language; none for a word whose beginning is not known."""
    if word in _BEGINNINGS:
        return _BEGINNINGS[word]
    for length in range(len(word) - 1, _SHORTEST - 1, -1):
        if (found := _BEGINNINGS.get(word[:length])) is not None:
            return found
    return ()
