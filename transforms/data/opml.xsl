<?xml version="1.0" encoding="UTF-8"?>
<!-- OPML 1.0 and 2.0 (http://opml.org/spec2.opml): outlines as parts of each other, feeds as channels of
     RSS 1.0. docs/XML.md has the table. -->
<xsl:stylesheet version="1.0"
  xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
  xmlns:q="https://quadrille.example/transform#"
  xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
  xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"
  xmlns:rss="http://purl.org/rss/1.0/"
  xmlns:dc="http://purl.org/dc/elements/1.1/"
  xmlns:dcterms="http://purl.org/dc/terms/"
  xmlns:foaf="http://xmlns.com/foaf/0.1/"
  xmlns:sioc="http://rdfs.org/sioc/ns#"
  exclude-result-prefixes="q xsl">
<xsl:output method="xml" encoding="UTF-8"/>
<q:namespace iri="" as="" names="lower"/>

<xsl:template match="/">
  <rdf:RDF>
    <foaf:Document rdf:about="{q:uri()}">
      <xsl:apply-templates select="/opml/head/*"/>
      <xsl:for-each select="//outline/@xmlurl[q:resolve(string(.))]"><sioc:links_to rdf:resource="{q:resolve(string(.))}"/></xsl:for-each>
      <xsl:apply-templates select="/opml/body/outline"/>
    </foaf:Document>
  </rdf:RDF>
</xsl:template>

<!-- An outline is the feed it names, or a node with what is in it. -->
<xsl:template match="outline">
  <xsl:variable name="feed" select="q:resolve(string(@xmlurl))"/>
  <xsl:if test="@* or outline">
    <dcterms:hasPart>
      <rdf:Description>
        <xsl:if test="$feed"><xsl:attribute name="rdf:about"><xsl:value-of select="$feed"/></xsl:attribute><rdf:type rdf:resource="http://purl.org/rss/1.0/channel"/></xsl:if>
        <xsl:apply-templates select="@*"/>
        <xsl:apply-templates select="outline"/>
      </rdf:Description>
    </dcterms:hasPart>
  </xsl:if>
</xsl:template>

<xsl:template match="@* | *"/>
<xsl:template match="@text"><xsl:if test="q:text(string(.))"><rdfs:label><xsl:value-of select="q:text(string(.))"/></rdfs:label></xsl:if></xsl:template>
<xsl:template match="@title | head/title"><xsl:if test="q:text(string(.))"><dcterms:title><xsl:value-of select="q:text(string(.))"/></dcterms:title></xsl:if></xsl:template>
<xsl:template match="@description"><xsl:if test="q:text(string(.))"><dcterms:description><xsl:value-of select="q:text(string(.))"/></dcterms:description></xsl:if></xsl:template>
<xsl:template match="@language"><xsl:if test="normalize-space(.)"><dcterms:language><xsl:value-of select="normalize-space(.)"/></dcterms:language></xsl:if></xsl:template>
<xsl:template match="@type"><xsl:if test="normalize-space(.)"><dc:type><xsl:value-of select="normalize-space(.)"/></dc:type></xsl:if></xsl:template>
<xsl:template match="@version"><xsl:if test="normalize-space(.)"><dc:format><xsl:value-of select="normalize-space(.)"/></dc:format></xsl:if></xsl:template>
<xsl:template match="@htmlurl"><xsl:if test="q:resolve(string(.))"><rss:link rdf:resource="{q:resolve(string(.))}"/></xsl:if></xsl:template>
<xsl:template match="@url"><xsl:if test="q:resolve(string(.))"><sioc:links_to rdf:resource="{q:resolve(string(.))}"/></xsl:if></xsl:template>
<xsl:template match="@category | @categories"><xsl:for-each select="q:split(string(.), ',')"><dc:subject><xsl:value-of select="normalize-space(.)"/></dc:subject></xsl:for-each></xsl:template>
<xsl:template match="@created | head/datecreated"><xsl:call-template name="date"><xsl:with-param name="as" select="'dcterms:created'"/></xsl:call-template></xsl:template>
<xsl:template match="head/datemodified"><xsl:call-template name="date"><xsl:with-param name="as" select="'dcterms:modified'"/></xsl:call-template></xsl:template>
<xsl:template match="head/docs"><xsl:if test="q:resolve(string(.))"><dcterms:conformsTo rdf:resource="{q:resolve(string(.))}"/></xsl:if></xsl:template>
<xsl:template match="head/ownername"><xsl:if test="normalize-space(.)"><dc:creator><xsl:value-of select="normalize-space(.)"/></dc:creator></xsl:if></xsl:template>
<xsl:template match="head/owneremail | head/ownerid">
  <xsl:if test="normalize-space(.) and not(self::ownerid and ../owneremail)">
    <foaf:maker><foaf:Agent>
      <xsl:if test="normalize-space(../ownername)"><foaf:name><xsl:value-of select="normalize-space(../ownername)"/></foaf:name></xsl:if>
      <xsl:if test="q:mail(string(../owneremail))"><foaf:mbox rdf:resource="{q:mail(string(../owneremail))}"/></xsl:if>
      <xsl:if test="q:resolve(string(../ownerid))"><foaf:page rdf:resource="{q:resolve(string(../ownerid))}"/></xsl:if>
    </foaf:Agent></foaf:maker>
  </xsl:if>
</xsl:template>

<xsl:template name="date">
  <xsl:param name="as"/>
  <xsl:variable name="date" select="q:date(string(.))"/>
  <xsl:if test="$date">
    <xsl:element name="{$as}">
      <xsl:attribute name="rdf:datatype">http://www.w3.org/2001/XMLSchema#date<xsl:if test="contains($date, 'T')">Time</xsl:if></xsl:attribute>
      <xsl:value-of select="$date"/>
    </xsl:element>
  </xsl:if>
</xsl:template>
</xsl:stylesheet>
